import { resolve } from 'node:path';
import { programVersion } from '../kit/program-version.ts';
import { type CommandLine, parseCommandLine } from './command-line.ts';
import { COMMAND_GROUPS, type CommandRow, commandsUnder, type FlagName, flagRow } from './command-table.ts';
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
  if (topic === '') return programUsage();
  const rows = commandsUnder(topic);
  const names = new Set<FlagName>(rows.flatMap(([, { flags }]) => flags));
  const more = rows.length > 1 ? `\n${MORE}\n` : '';
  return `Usage:\n${columns(rows.map(usageLine))}\n\nFlags:\n${columns([...names].map(flagLine))}\n${more}`;
}

const MORE = 'signalbox help COMMAND shows what a command takes, with its flags.';

/** Flags of the program, and those that all commands take. */
const SHOWN_FLAGS: readonly FlagName[] = ['config', 'data-dir', 'json', 'help', 'version'];

function programUsage(): string {
  const groups = COMMAND_GROUPS.map(([title, words]) => ({ title, rows: words.flatMap(commandsUnder) }));
  const lines = groups.flatMap(({ title, rows }) => [title, ...rows.map(usageLine)]);
  return `Usage: signalbox COMMAND\n\n${columns(lines)}\n\nFlags\n${columns(SHOWN_FLAGS.map(flagLine))}\n\n${MORE}\n`;
}

function usageLine([words, { operands, meaning }]: readonly [string, CommandRow]): [string, string] {
  return [['signalbox', words, ...operands].join(' '), meaning];
}

function flagLine(name: FlagName): [string, string] {
  const { value, meaning } = flagRow(name);
  return [`--${name}${value === undefined ? '' : ` ${value}`}`, meaning];
}

/** Aligned pairs; a text alone is the title of those below it. */
function columns(lines: readonly (readonly [string, string] | string)[]): string {
  const width = Math.max(...lines.map((line) => (typeof line === 'string' ? 0 : line[0].length)));
  return lines
    .map((line, at) =>
      typeof line === 'string' ? `${at === 0 ? '' : '\n'}${line}` : `  ${line[0].padEnd(width)}  ${line[1]}`,
    )
    .join('\n');
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
    return checkConfig({ ...flags, config }, { asJson, withDefaults: line.flags.defaults === true, output });
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
      ...definedText('session', textFlag(line, 'session')),
      ...definedText('user', textFlag(line, 'user')),
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
