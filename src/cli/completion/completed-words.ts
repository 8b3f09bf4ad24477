import { HELP, operandChoices } from '../command-line.ts';
import { type CommandRow, commandsUnder, FLAGS, type FlagName, flagRow } from '../command-table.ts';

/** Words that a shell offers at a place that takes a value. */
export type Offer =
  | { readonly kind: 'file' | 'directory' | 'any' }
  | { readonly kind: 'choice'; readonly words: readonly string[] };

/** A flag; `offer` is undefined if it takes no value. */
export interface CompletedFlag {
  readonly name: FlagName;
  readonly meaning: string;
  readonly offer: Offer | undefined;
}

/** A command with its words, flags and first operand. */
export interface CompletedCommand {
  readonly words: readonly [first: string, second?: string];
  readonly meaning: string;
  readonly flags: readonly CompletedFlag[];
  readonly operand: Offer | undefined;
}

/** A first word of commands. A group such as `keys` lists its second words as meaning. */
export interface FirstWord {
  readonly word: string;
  readonly meaning: string;
}

export function completedFlags(): CompletedFlag[] {
  return (Object.keys(FLAGS) as FlagName[]).map(completedFlag);
}

export function completedCommands(): CompletedCommand[] {
  const commands = commandsUnder('').map(
    ([name, row]): CompletedCommand => ({
      words: name.split(' ') as [string, string?],
      meaning: row.meaning,
      flags: row.flags.map(completedFlag),
      operand: operandOffer(row),
    }),
  );
  const topics = [...new Set(commands.map(({ words: [first] }) => first))];
  const help = { words: [HELP], meaning: 'show how a command is used', flags: [] } as const;
  return [...commands, { ...help, operand: { kind: 'choice', words: topics } }];
}

export function firstWords(): FirstWord[] {
  const words = new Set(completedCommands().map(({ words: [first] }) => first));
  return [...words].map((word) => {
    const commands = completedCommands().filter(({ words: [first] }) => first === word);
    const [only] = commands;
    const members = commands.map(({ words: [, second] }) => second).join(', ');
    return { word, meaning: only?.words[1] === undefined ? (only?.meaning ?? '') : members };
  });
}

function completedFlag(name: FlagName): CompletedFlag {
  const { value, choices, meaning } = flagRow(name);
  return { name, meaning, offer: value === undefined ? undefined : offerOf(value, choices) };
}

function operandOffer({ operands: [first] }: CommandRow): Offer | undefined {
  return first === undefined ? undefined : offerOf(first, operandChoices(first));
}

function offerOf(value: string, choices: readonly string[] | undefined): Offer {
  if (choices !== undefined) return { kind: 'choice', words: choices };
  if (value.includes('FILE')) return { kind: 'file' };
  return { kind: value.includes('DIR') ? 'directory' : 'any' };
}
