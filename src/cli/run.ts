import { resolve } from 'node:path';
import { programVersion } from '../kit/program-version.ts';
import { type CommandLine, parseCommandLine } from './command-line.ts';
import { commandsUnder, type FlagName, flagRow } from './command-table.ts';
import { type Run, textFlag } from './read-flags.ts';
import { configurationFlags, RESULT_RUNNERS } from './result-runners.ts';
import { failureText } from './terminal/failure-text.ts';
import { jsonText, type Output } from './terminal/output.ts';

/**
 * Runs a command line. Exit code: 0 done, 1 failed, 2 wrong usage, 3 something is to be done; undefined while the
 * gateway serves.
 */
export async function run(words: readonly string[], output: Output): Promise<number | undefined> {
  const line = parseCommandLine(words);
  switch (line.kind) {
    case 'help':
      output.out(usageText(line.topic));
      return 0;
    case 'version':
      output.out(`${programVersion()}\n`);
      return 0;
    case 'misuse':
      output.err(misuseText(line));
      return 2;
    default:
      return runSafely(line, output);
  }
}

/** The problem with the usage of the topic; that of the whole program is too long to follow a typing error. */
function misuseText({ message, topic }: Pick<Extract<CommandLine, { kind: 'misuse' }>, 'message' | 'topic'>) {
  const usage = topic === '' ? 'signalbox help lists all commands.\n' : usageText(topic);
  return `signalbox: ${message}\n\n${usage}`;
}

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

async function runSafely(line: Run, output: Output): Promise<number | undefined> {
  try {
    return await dispatch(line, output);
  } catch (error) {
    output.err(failureText(error));
    return 1;
  }
}

/** Imports the code of a command only when it runs, so that `--help` does not load a gateway. */
async function dispatch(line: Run, output: Output): Promise<number | undefined> {
  const flags = configurationFlags(line);
  const asJson = line.flags.json === true;
  if (line.command === 'serve') {
    const { serve } = await import('./commands/serve.ts');
    await serve(flags, asJson);
    return undefined;
  }
  if (line.command === 'check-config') {
    const config = line.operands[0] ?? flags.config;
    if (config !== undefined && flags.config !== undefined && !isSameFile(config, flags.config)) {
      const message = 'FILE and --config name two files; give one of them';
      output.err(misuseText({ message, topic: line.command }));
      return 2;
    }
    const { checkConfig } = await import('./commands/check-config.ts');
    return checkConfig({ ...flags, config }, asJson, output);
  }
  if (line.command === 'catalog refresh') {
    const { refreshCatalog } = await import('./commands/catalog.ts');
    return refreshCatalog(flags, line.operands[0] ?? '', {
      dryRun: line.flags['dry-run'] === true,
      prune: line.flags.prune === true,
      yes: line.flags.yes === true,
      asJson,
      output,
    });
  }
  if (line.command === 'usage import') {
    const { importUsage } = await import('./commands/usage-import.ts');
    return importUsage(flags, line.operands[0] ?? '', {
      skipBad: line.flags['skip-bad'] === true,
      account: textFlag(line, 'account'),
      asJson,
      output,
    });
  }
  if (line.command === 'generations tail') {
    const { tailGenerations } = await import('./commands/generations-tail.ts');
    const filter = {
      failed: line.flags.failed === true,
      ...definedText('key', textFlag(line, 'key')),
      ...definedText('model', textFlag(line, 'model')),
    };
    return tailGenerations(flags, { filter, asJson, output });
  }
  const {
    result,
    text,
    notes,
    hasFailed = false,
    exitCode,
  } = await RESULT_RUNNERS[line.command](line, flags);
  output.out(asJson ? jsonText(result) : text);
  if (notes !== undefined && !asJson) output.err(notes);
  return exitCode ?? (hasFailed ? 1 : 0);
}

function definedText<Name extends string>(name: Name, value: string | undefined) {
  return value === undefined ? {} : ({ [name]: value } as Record<Name, string>);
}

function isSameFile(one: string, other: string): boolean {
  return resolve(one) === resolve(other);
}
