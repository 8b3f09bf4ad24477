import { parseArgs } from 'node:util';

export interface FlagRow {
  /** Name of its value in the usage text; undefined for a boolean flag. */
  readonly value?: string;
  readonly meaning: string;
}

export interface CommandRow {
  readonly meaning: string;
  /** Arguments after the command; `[NAME]` is optional. */
  readonly operands: readonly string[];
  /** Names of flags, without the dashes. */
  readonly flags: readonly FlagName[];
  readonly required: readonly FlagName[];
}

/** All flags. A name means the same in every command. */
export const FLAGS = {
  config: { value: 'FILE', meaning: 'configuration file (default: signalbox.yaml if it is there)' },
  'data-dir': { value: 'DIRECTORY', meaning: 'where the gateway keeps its data (default: ./data)' },
  port: { value: 'PORT', meaning: 'port to listen on (default: 8787)' },
  host: { value: 'ADDRESS', meaning: 'address to listen on (default: 127.0.0.1)' },
  workers: { value: 'COUNT', meaning: 'processes that serve (only 1 in this version)' },
  json: { meaning: 'print JSON' },
  name: { value: 'NAME', meaning: 'name of the key' },
  account: { value: 'NAME', meaning: 'account (default: the first one; in lists: all)' },
  workspace: { value: 'SLUG', meaning: "workspace (default: the account's default one)" },
  management: { meaning: 'make a management key' },
  limit: { value: 'USD', meaning: 'the most that the key may spend (default: no limit)' },
  'limit-reset': {
    value: 'WINDOW',
    meaning: 'when the limit begins anew: daily, weekly or monthly, in UTC (default: never)',
  },
  'include-byok': { meaning: 'what BYOK credentials served counts towards the limit' },
  'skip-bad': { meaning: 'leave bad lines out instead of importing nothing' },
  'dry-run': { meaning: 'show what would change and change nothing' },
  prune: { meaning: 'forget endpoints that the data do not list any more' },
  yes: { meaning: 'do not ask' },
  'new-key-file': {
    value: 'FILE',
    meaning:
      'holds the new key, 32 bytes in base64 (default: one is made, where it is kept in the data directory)',
  },
  help: { meaning: 'show this text' },
  version: { meaning: 'show the version' },
} as const satisfies Record<string, FlagRow>;

export type FlagName = keyof typeof FLAGS;

const COMMON: readonly FlagName[] = ['config', 'data-dir', 'json', 'help'];

/** All commands by name. */
export const COMMAND_TABLE = {
  serve: row('serve (what happens without a command)', [], ['port', 'host', 'workers']),
  'check-config': row('check the configuration and print what it amounts to', ['[FILE]']),
  'keys create': row(
    'make a key and print its secret once',
    [],
    ['name', 'management', 'limit', 'limit-reset', 'include-byok', 'workspace', 'account'],
    ['name'],
  ),
  'keys list': row('list the keys', [], ['account']),
  'keys revoke': row('delete a key for good', ['HASH'], ['account']),
  'accounts create': row('make an account and print its management key once', ['NAME']),
  'accounts list': row('list the accounts', []),
  'catalog refresh': row(
    'bring newer data about models and prices in',
    ['FILE|URL'],
    ['dry-run', 'prune', 'yes'],
  ),
  'catalog show': row('show what is known of all models, or of one', ['[MODEL]']),
  'credits set': row('set what is left of a balance', ['USD|none'], ['account']),
  'credits show': row('show what is left of a balance', [], ['account']),
  'usage import': row(
    'count usage from before or from elsewhere, a JSON object a line',
    ['FILE'],
    ['skip-bad', 'account'],
  ),
  'rotate-encryption-key': row('encrypt stored credentials under a new key', [], ['new-key-file']),
  'ledger verify': row('check the books of every account', []),
  'ledger rebuild': row('make the rows of generations anew from the journal', []),
  'ledger accept-loss': row('go on without the records that a journal has lost', []),
  doctor: row('look for what is wrong and say how to mend it', []),
} as const satisfies Record<string, CommandRow>;

export type CommandWords = keyof typeof COMMAND_TABLE;

/** A parsed command line. */
export type CommandLine =
  | {
      readonly kind: 'run';
      readonly command: CommandWords;
      readonly operands: readonly string[];
      readonly flags: Readonly<Partial<Record<FlagName, string | true>>>;
    }
  | { readonly kind: 'help'; readonly command: CommandWords | undefined }
  | { readonly kind: 'version' }
  /** Exit code 2, with this message and the usage of the command. */
  | { readonly kind: 'misuse'; readonly message: string; readonly command: CommandWords | undefined };

/** Parses the arguments of the program. */
export function parseCommandLine(words: readonly string[]): CommandLine {
  const { values, positionals, tokens } = parseArgs({
    args: [...words],
    options: Object.fromEntries(
      Object.entries(FLAGS as Record<string, FlagRow>).map(([name, { value }]) => [
        name,
        { type: value === undefined ? ('boolean' as const) : ('string' as const) },
      ]),
    ),
    allowPositionals: true,
    strict: false,
    tokens: true,
  });
  const { command, operands } = findCommand(positionals);
  if (values.help === true) return { kind: 'help', command: positionals.length === 0 ? undefined : command };
  if (values.version === true) return { kind: 'version' };
  const misuse = (message: string): CommandLine => ({ kind: 'misuse', message, command });
  if (command === undefined) return misuse(unknownCommand(positionals));
  const table: CommandRow = COMMAND_TABLE[command];
  for (const token of tokens) {
    if (token.kind !== 'option') continue;
    const problem = flagProblem(table, token);
    if (problem !== undefined) return misuse(problem);
  }
  const flags = values as Partial<Record<FlagName, string | true>>;
  const missing = table.required.find((name) => flags[name] === undefined);
  if (missing !== undefined) return misuse(`--${missing} ${flagRow(missing).value ?? ''} is missing`);
  const least = table.operands.filter((name) => !name.startsWith('[')).length;
  if (operands.length < least) return misuse(`${table.operands[operands.length]} is missing`);
  if (operands.length > table.operands.length) {
    return misuse(`unexpected argument: ${operands[table.operands.length]}`);
  }
  return { kind: 'run', command, operands, flags };
}

/** The usage text of one command, or of the whole program. */
export function usageText(command?: CommandWords): string {
  const rows = Object.entries(COMMAND_TABLE as Record<string, CommandRow>).filter(
    ([words]) => command === undefined || words === command,
  );
  const lines = rows.map(([words, table]): [string, string] => [
    ['signalbox', words, ...table.operands].join(' '),
    table.meaning,
  ]);
  const names = new Set(rows.flatMap(([, { flags }]) => flags));
  if (command === undefined) names.add('version');
  const flags = [...names].map((name): [string, string] => {
    const { value, meaning } = flagRow(name);
    return [`--${name}${value === undefined ? '' : ` ${value}`}`, meaning];
  });
  return `Usage:\n${columns(lines)}\n\nFlags:\n${columns(flags)}\n`;
}

function columns(lines: readonly (readonly [string, string])[]): string {
  const width = Math.max(...lines.map(([left]) => left.length));
  return lines.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`).join('\n');
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

/** Message for an unknown command; lists the members of a group such as `keys`. */
function unknownCommand(words: readonly string[]): string {
  const [group, ...rest] = words;
  const members = Object.keys(COMMAND_TABLE).filter((name) => name.startsWith(`${group} `));
  if (members.length === 0) return `unknown command: ${words.join(' ')}`;
  const problem = rest.length === 0 ? `${group} alone is no command` : `unknown command: ${words.join(' ')}`;
  return `${problem}; there is ${members.join(', ')}`;
}

function flagProblem(
  table: CommandRow,
  { name, rawName, value }: { name: string; rawName: string; value?: string },
): string | undefined {
  if (!Object.hasOwn(FLAGS, name) || !table.flags.includes(name as FlagName))
    return `unknown flag: ${rawName}`;
  const { value: wanted } = flagRow(name as FlagName);
  if (wanted !== undefined && (value === undefined || value === '')) return `${rawName} needs a ${wanted}`;
  return wanted === undefined && value !== undefined ? `${rawName} takes no value` : undefined;
}

function flagRow(name: FlagName): FlagRow {
  return FLAGS[name];
}

function row(
  meaning: string,
  operands: readonly string[],
  flags: readonly FlagName[] = [],
  required: readonly FlagName[] = [],
): CommandRow {
  return { meaning, operands, flags: [...flags, ...COMMON], required };
}
