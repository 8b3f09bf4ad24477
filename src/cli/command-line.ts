import { parseArgs } from 'node:util';
import { nearestWord } from '../kit/text/nearest-word.ts';
import {
  COMMAND_TABLE,
  type CommandRow,
  type CommandWords,
  commandsUnder,
  FLAGS,
  type FlagName,
  type FlagRow,
  flagRow,
} from './command-table.ts';

/** Of a flag that may be given several times, all values. */
export type FlagValue = string | true | readonly string[];

/** A parsed command line. */
export type CommandLine =
  | {
      readonly kind: 'run';
      readonly command: CommandWords;
      readonly operands: readonly string[];
      readonly flags: Readonly<Partial<Record<FlagName, FlagValue>>>;
    }
  /** `topic`: a command, a group such as `keys`, or empty for the whole program. */
  | { readonly kind: 'help'; readonly topic: string }
  | { readonly kind: 'version' }
  /** Exit code 2, with this message and the usage of the topic. */
  | { readonly kind: 'misuse'; readonly message: string; readonly topic: string };

/** Parses the arguments of the program. */
export function parseCommandLine(words: readonly string[]): CommandLine {
  const { values, positionals, tokens } = parseArgs({
    args: [...words],
    options: Object.fromEntries(
      Object.entries(FLAGS as Record<string, FlagRow>).map(([name, { value, isList = false }]) => [
        name,
        { type: value === undefined ? ('boolean' as const) : ('string' as const), multiple: isList },
      ]),
    ),
    allowPositionals: true,
    strict: false,
    tokens: true,
  });
  if (isHelp(positionals)) return helpOn(positionals.filter((word) => word !== HELP));
  const { command, operands } = findCommand(positionals);
  const topic = command ?? groupOf(positionals);
  if (values.help === true) return { kind: 'help', topic: positionals.length === 0 ? '' : topic };
  if (values.version === true) return { kind: 'version' };
  const misuse = (message: string): CommandLine => ({ kind: 'misuse', message, topic });
  const given = tokens.flatMap((token) => (token.kind === 'option' ? [token] : []));
  if (command === undefined) {
    // The value of a misspelt flag looks like a command: the flag is the mistake.
    const wrong = given.find(({ name }) => !Object.hasOwn(FLAGS, name));
    if (wrong !== undefined) return misuse(unknownFlag(wrong.rawName, Object.keys(FLAGS)));
    return misuse(unknownCommand(positionals));
  }
  const table: CommandRow = COMMAND_TABLE[command];
  for (const token of given) {
    const problem = flagProblem(table, token);
    if (problem !== undefined) return misuse(problem);
  }
  const flags = values as Partial<Record<FlagName, FlagValue>>;
  const missing = table.required.find((name) => flags[name] === undefined);
  if (missing !== undefined) return misuse(`--${missing} ${flagRow(missing).value ?? ''} is missing`);
  const problem = operandProblem(table, operands);
  if (problem !== undefined) return misuse(problem);
  return { kind: 'run', command, operands, flags };
}

/** The word that asks for the usage text, like `--help`: `signalbox help keys`, `signalbox keys help`. */
export const HELP = 'help';

function isHelp([first, second, ...others]: readonly string[]): boolean {
  return first === HELP || (second === HELP && others.length === 0 && groupOf([first ?? '']) === first);
}

function helpOn(words: readonly string[]): CommandLine {
  const topic = findCommand(words).command ?? groupOf(words);
  if (words.length === 0) return { kind: 'help', topic: '' };
  if (topic === '' || (words.length > 1 && topic === words[0] && commandsUnder(topic).length > 1)) {
    return { kind: 'misuse', message: unknownCommand(words), topic };
  }
  return { kind: 'help', topic };
}

/** Matches a command of two words, then of one. No words = serve. */
function findCommand(words: readonly string[]): { command: CommandWords | undefined; operands: string[] } {
  if (words.length === 0) return { command: 'serve', operands: [] };
  for (const count of [2, 1]) {
    const name = words.slice(0, count).join(' ');
    if (words.length >= count && Object.hasOwn(COMMAND_TABLE, name)) {
      return { command: name as CommandWords, operands: words.slice(count) };
    }
  }
  return { command: undefined, operands: [] };
}

/** The first word if it begins commands, such as `keys`; empty if it does not. */
function groupOf([first = '']: readonly string[]): string {
  return first !== '' && commandsUnder(first).length > 0 ? first : '';
}

/** Message for an unknown command, with the one that was probably meant; lists the members of a group. */
function unknownCommand(words: readonly string[]): string {
  const group = groupOf(words);
  const typed = words.join(' ');
  const problem =
    words.length === 1 && group !== '' ? `${typed} alone is no command` : `unknown command: ${typed}`;
  const meant = nearestCommand(words);
  const advice = meant === undefined ? [] : [`did you mean ${meant}?`];
  const members = commandsUnder(group).map(([name]) => name);
  if (group !== '' && meant === undefined) advice.push(`there is ${members.join(', ')}`);
  return [problem, ...advice].join('; ');
}

/** Compares commands with as many of the words as they have; the rest may be operands. */
function nearestCommand(words: readonly string[]): CommandWords | undefined {
  const names = commandsUnder('').map(([name]) => name);
  for (const count of [2, 1]) {
    if (words.length < count) continue;
    const candidates = names.filter((name) => name.split(' ').length === count);
    const nearest = nearestWord(words.slice(0, count).join(' '), candidates);
    if (nearest !== undefined) return nearest as CommandWords;
  }
  const group = nearestWord(words[0] ?? '', new Set(names.map((name) => name.split(' ', 1)[0] ?? '')));
  return words.length === 1 && group !== words[0] ? (group as CommandWords | undefined) : undefined;
}

function unknownFlag(rawName: string, known: readonly string[]): string {
  if (/^-\d/.test(rawName)) return 'a number or an amount must not be negative';
  const meant = rawName.startsWith('--') ? nearestWord(rawName.slice(2), known) : undefined;
  return `unknown flag: ${rawName}${meant === undefined ? '' : `; did you mean --${meant}?`}`;
}

function flagProblem(
  table: CommandRow,
  { name, rawName, value }: { name: string; rawName: string; value?: string | undefined },
): string | undefined {
  if (!Object.hasOwn(FLAGS, name) || !table.flags.includes(name as FlagName)) {
    return unknownFlag(rawName, table.flags);
  }
  const { value: wanted, choices } = flagRow(name as FlagName);
  if (wanted === undefined) return value === undefined ? undefined : `${rawName} takes no value`;
  if (value === undefined || value === '') return `${rawName} needs a ${wanted}`;
  return choices === undefined ? undefined : choiceProblem(rawName, value, choices);
}

function operandProblem({ operands: wanted }: CommandRow, given: readonly string[]): string | undefined {
  const least = wanted.filter((name) => !name.startsWith('[')).length;
  if (given.length < least) return `${wanted[given.length]} is missing`;
  if (given.length > wanted.length) return `unexpected argument: ${given[wanted.length]}`;
  for (const [index, typed] of given.entries()) {
    const choices = operandChoices(wanted[index] ?? '');
    const problem = choices === undefined ? undefined : choiceProblem('argument', typed, choices);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** The words of an operand such as `bash|zsh`; undefined if it takes any text. Capitals name a value, not a word. */
export function operandChoices(operand: string): readonly string[] | undefined {
  const words = operand.replace(/^\[|\]$/g, '').split('|');
  return words.some((word) => word !== word.toLowerCase()) ? undefined : words;
}

function choiceProblem(what: string, typed: string, choices: readonly string[]): string | undefined {
  if (choices.includes(typed)) return undefined;
  const meant = nearestWord(typed, choices);
  const advice = meant === undefined ? '' : `; did you mean ${meant}?`;
  return `${what}: ${typed} is none of ${choices.join(', ')}${advice}`;
}
