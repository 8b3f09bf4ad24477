import { commandsUnder, type FlagName, flagRow } from './command-table.ts';

/** The usage text of a command, of a group such as `keys`, or of the whole program. */
export function usageText(topic = ''): string {
  const rows = commandsUnder(topic);
  const lines = rows.map(([words, { operands, meaning }]): [string, string] => [
    ['signalbox', words, ...operands].join(' '),
    meaning,
  ]);
  const names = new Set<FlagName>(rows.flatMap(([, { flags }]) => flags));
  if (topic === '') names.add('version');
  const flags = [...names].map((name): [string, string] => {
    const { value, meaning } = flagRow(name);
    return [`--${name}${value === undefined ? '' : ` ${value}`}`, meaning];
  });
  const more = rows.length > 1 ? '\nsignalbox help COMMAND shows what one command takes.\n' : '';
  return `Usage:\n${columns(lines)}\n\nFlags:\n${columns(flags)}\n${more}`;
}

function columns(lines: readonly (readonly [string, string])[]): string {
  const width = Math.max(...lines.map(([left]) => left.length));
  return lines.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`).join('\n');
}
