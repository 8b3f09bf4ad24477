import { LIMIT_WINDOWS } from '../kit/time/windows.ts';
import { ACCOUNT_ROLES, WORKSPACE_ROLES } from '../ports/tenancy/members.ts';

export interface FlagRow {
  /** Name of its value in the usage text; undefined for a boolean flag. */
  readonly value?: string;
  /** The values that it takes; absent = any text. */
  readonly choices?: readonly string[];
  /** It may be given several times. */
  readonly isList?: true;
  readonly meaning: string;
}

export interface CommandRow {
  readonly meaning: string;
  /** Arguments after the command; `[NAME]` is optional, `one|other` is a choice of words. */
  readonly operands: readonly string[];
  /** Names of flags, without the dashes. */
  readonly flags: readonly FlagName[];
  readonly required: readonly FlagName[];
}

/** All flags. A name means the same in every command. */
export const FLAGS = {
  config: { value: 'FILE', meaning: 'configuration file (default: signalbox.yaml if it is there)' },
  'data-dir': {
    value: 'DIRECTORY',
    meaning: 'where the gateway keeps its data (default: ./data in a clone, else ~/.local/share/signalbox)',
  },
  port: { value: 'PORT', meaning: 'port to listen on (default: 8787)' },
  host: { value: 'ADDRESS', meaning: 'address to listen on (default: 127.0.0.1)' },
  workers: { value: 'COUNT', meaning: 'processes that serve, or auto: one for each core' },
  json: { meaning: 'print JSON' },
  defaults: { meaning: 'print what has its default value too' },
  name: { value: 'NAME', meaning: 'name for people' },
  account: { value: 'NAME', meaning: 'account (default: the first one; in lists: all)' },
  workspace: { value: 'SLUG', meaning: "workspace (default: the account's default one; in lists: all)" },
  management: { meaning: 'make a management key' },
  owner: {
    value: 'MEMBER',
    meaning: 'member who owns the key, by address or id: it stops working with them',
  },
  email: { value: 'ADDRESS', meaning: 'new address' },
  'first-name': { value: 'NAME', meaning: 'first name' },
  'last-name': { value: 'NAME', meaning: 'last name' },
  role: { value: 'ROLE', choices: ACCOUNT_ROLES, meaning: 'role in the account (default: org:member)' },
  limit: { value: 'USD|none', meaning: 'the most that the key may spend (default: none, no limit)' },
  'limit-reset': {
    value: 'WINDOW',
    choices: ['daily', 'weekly', 'monthly', 'never'],
    meaning: 'when the limit is reset: daily, weekly or monthly, in UTC, or never (default)',
  },
  'include-byok': { meaning: 'what BYOK credentials served counts towards the limit' },
  'exclude-byok': { meaning: 'what BYOK credentials served does not count towards the limit' },
  'allow-model': {
    value: 'MODEL|all',
    isList: true,
    meaning: 'a model that the key may use; give it again for each (default: all)',
  },
  'requests-per-minute': {
    value: 'COUNT|none',
    meaning: "requests a minute, in place of the configuration's limits.per_key (default: none of its own)",
  },
  'tokens-per-minute': {
    value: 'COUNT|none',
    meaning: "tokens a minute, in place of the configuration's limits.per_key (default: none of its own)",
  },
  expires: {
    value: 'MOMENT|never',
    meaning: 'when the key stops working, in UTC, such as 2030-01-31T12:00:00Z (default: never)',
  },
  slug: { value: 'SLUG', meaning: 'new slug of the workspace' },
  description: { value: 'TEXT', meaning: 'a text for people; none: no text' },
  'default-text-model': { value: 'MODEL', meaning: 'model of requests that name none; none: no model' },
  'default-provider-sort': {
    value: 'SORT',
    choices: ['price', 'throughput', 'latency', 'exacto', 'none'],
    meaning: 'provider.sort of requests that give neither sort nor order',
  },
  'io-logging': {
    value: 'on|off',
    choices: ['on', 'off'],
    meaning: 'whether prompts and outputs are stored',
  },
  'io-logging-sampling-rate': {
    value: 'SHARE',
    meaning: 'share of the requests that are stored, above 0 to 1',
  },
  'secret-env': {
    value: 'NAME',
    meaning: 'environment variable that holds the credential (default: standard input)',
  },
  'all-workspaces': { meaning: 'for every workspace' },
  workspaces: { value: 'SLUG,...', meaning: 'serve the requests of these workspaces alone' },
  'base-url': { value: 'URL', meaning: 'address up to the path of the interface (default: the known one)' },
  dialect: {
    value: 'DIALECT',
    choices: ['openai-chat', 'openai-responses', 'anthropic-messages', 'google-gemini', 'aws-bedrock'],
    meaning: 'interface that a server of your own speaks, mostly openai-chat (default: the known one)',
  },
  models: {
    value: 'all|NAME,...',
    meaning: "models to serve besides the known ones, by the server's names; all: all that it lists",
  },
  prices: {
    value: 'NAME=IN/OUT,...',
    meaning: 'prices of these models, USD per million tokens (default: 0/0, free)',
  },
  'new-key': { meaning: 'read another key from standard input' },
  untested: { meaning: 'store it although its test fails' },
  fallback: { meaning: 'use the credential only after the shared endpoints' },
  required: { meaning: 'use no shared endpoint of the provider for models that the credential covers' },
  'byok-only': { meaning: 'use no shared endpoint of the provider' },
  'skip-bad': { meaning: 'leave bad lines out instead of importing nothing' },
  'dry-run': { meaning: 'show what would change and change nothing' },
  prune: { meaning: 'forget endpoints that the data do not list any more' },
  yes: { meaning: 'do not ask' },
  provider: { value: 'SLUG', meaning: 'only models at this provider' },
  search: {
    value: 'TEXT',
    meaning: 'only models with these words in id, name or alias, or members with these in address or name',
  },
  free: { meaning: 'only models that cost nothing' },
  available: { meaning: 'only models that this gateway serves' },
  parameter: { value: 'NAME', meaning: 'only models that take this request parameter, such as tools' },
  modality: {
    value: 'KIND',
    choices: ['text', 'image', 'file', 'audio', 'video', 'embeddings'],
    meaning: 'only models that take or write this: text, image, file, audio, video or embeddings',
  },
  failed: { meaning: 'only generations that failed' },
  key: {
    value: 'HASH',
    meaning: 'only generations of the key with this hash, or with this beginning of one',
  },
  model: { value: 'ID', meaning: 'only generations of this model' },
  session: { value: 'ID', meaning: 'only generations with this session id' },
  user: { value: 'ID', meaning: 'only generations of this end user, as requests name them' },
  'new-key-file': {
    value: 'FILE',
    meaning:
      'holds the new key, 32 bytes in base64 (default: one is made, where it is kept in the data directory)',
  },
  check: { meaning: 'change nothing; exit with 3 if something is to be done' },
  'without-content': { meaning: 'leave prompts and answers out of the backup' },
  'without-encryption-key': { meaning: 'leave the key of stored credentials out of the backup' },
  help: { meaning: 'show this text' },
  version: { meaning: 'show the version' },
} as const satisfies Record<string, FlagRow>;

export type FlagName = keyof typeof FLAGS;

/** Settings that a workspace may have from its creation. */
const WORKSPACE_SETTINGS: readonly FlagName[] = [
  'description',
  'default-text-model',
  'default-provider-sort',
  'io-logging',
  'io-logging-sampling-rate',
];

/** Limits that a key may have from its creation. */
const KEY_LIMITS: readonly FlagName[] = [
  'limit',
  'limit-reset',
  'include-byok',
  'allow-model',
  'requests-per-minute',
  'tokens-per-minute',
  'expires',
];

const COMMON: readonly FlagName[] = ['config', 'data-dir', 'json', 'help'];

/** All commands by name. */
export const COMMAND_TABLE = {
  serve: row('serve (what happens without a command)', [], ['port', 'host', 'workers']),
  'check-config': row('check the configuration and print what it amounts to', ['[FILE]'], ['defaults']),
  schema: row('print the JSON Schema of the configuration file, for editors', []),
  'keys create': row(
    'make a key and print its secret once',
    [],
    ['name', 'management', ...KEY_LIMITS, 'owner', 'workspace', 'account'],
    ['name'],
  ),
  'keys list': row('list the keys', [], ['account']),
  'keys show': row('show a key with its limits and guardrails', ['HASH'], ['account']),
  'keys update': row('change a key', ['HASH'], ['name', ...KEY_LIMITS, 'exclude-byok', 'account']),
  'keys disable': row('refuse a key until it is enabled', ['HASH'], ['account']),
  'keys enable': row('accept a disabled key again', ['HASH'], ['account']),
  'keys revoke': row('delete a key for good', ['HASH'], ['account']),
  'workspaces list': row('list the workspaces', [], ['account']),
  'workspaces create': row('make a workspace', ['SLUG'], ['name', ...WORKSPACE_SETTINGS, 'account']),
  'workspaces update': row(
    'change a workspace',
    ['WORKSPACE'],
    ['name', 'slug', ...WORKSPACE_SETTINGS, 'account'],
  ),
  'workspaces delete': row('delete a workspace without active keys', ['WORKSPACE'], ['account']),
  'budgets list': row('list budgets, with what is left of them', [], ['workspace', 'account']),
  'budgets set': row(
    'set the most that a workspace may spend in a window',
    [LIMIT_WINDOWS.join('|'), 'USD'],
    ['include-byok', 'exclude-byok', 'workspace', 'account'],
  ),
  'budgets remove': row('remove a budget', [LIMIT_WINDOWS.join('|')], ['workspace', 'account']),
  'byok list': row('list BYOK credentials', [], ['workspace', 'account']),
  'byok add': row(
    'store a BYOK credential, read from standard input',
    ['PROVIDER'],
    ['secret-env', 'name', 'fallback', 'required', 'byok-only', 'workspace', 'all-workspaces', 'account'],
  ),
  'byok remove': row('delete a BYOK credential and wipe its secret', ['ID'], ['account']),
  'providers list': row('list the providers of the gateway, and what sets them', []),
  'providers add': row(
    'serve a provider with a key that is read from standard input; no restart',
    ['PROVIDER'],
    ['base-url', 'dialect', 'name', 'models', 'prices', 'workspaces', 'secret-env', 'untested'],
  ),
  'providers test': row('ask a provider for its models, and show what came back', ['PROVIDER']),
  'providers update': row(
    'change a provider that was added',
    ['PROVIDER'],
    [
      ...(['base-url', 'dialect', 'name', 'models', 'prices', 'workspaces', 'all-workspaces'] as const),
      ...(['new-key', 'secret-env'] as const),
    ],
  ),
  'providers disable': row('stop serving a provider that was added', ['PROVIDER']),
  'providers enable': row('serve it again', ['PROVIDER']),
  'providers remove': row('remove a provider that was added and wipe its key', ['PROVIDER']),
  'guardrails list': row('list guardrails, with what they apply to', [], ['account']),
  'guardrails assign': row(
    'give a key a guardrail, by id or name; asks before another one is replaced',
    ['GUARDRAIL', 'KEY'],
    ['yes', 'account'],
  ),
  'guardrails unassign': row('take a guardrail away from a key', ['GUARDRAIL', 'KEY'], ['account']),
  'members list': row('list the people of the accounts', [], ['search', 'account']),
  'members add': row('add a person', ['ADDRESS'], ['first-name', 'last-name', 'role', 'account']),
  'members update': row(
    'change names, address or role of a person',
    ['MEMBER'],
    ['email', 'first-name', 'last-name', 'role', 'account'],
  ),
  'members disable': row(
    'stop a person, with all keys of theirs, until they are enabled',
    ['MEMBER'],
    ['account'],
  ),
  'members enable': row('let them work again', ['MEMBER'], ['account']),
  'members remove': row('remove a person; keys of theirs stop working', ['MEMBER'], ['account']),
  'members assign': row(
    'give a person a role in a workspace',
    ['MEMBER', WORKSPACE_ROLES.join('|')],
    ['workspace', 'account'],
  ),
  'members unassign': row('take the role in a workspace away', ['MEMBER', 'WORKSPACE'], ['account']),
  'accounts create': row('make an account and print its management key once', ['NAME']),
  'accounts list': row('list the accounts', []),
  'catalog refresh': row(
    'bring newer data about models and prices in',
    ['FILE|URL'],
    ['dry-run', 'prune', 'yes'],
  ),
  'catalog show': row(
    'list models with their prices, or show one',
    ['[MODEL]'],
    ['provider', 'search', 'free', 'available', 'parameter', 'modality'],
  ),
  'credits set': row('set what is left of a balance', ['USD|none'], ['account']),
  'credits show': row('show what is left of a balance', [], ['account']),
  'usage import': row(
    'count usage from before or from elsewhere, a JSON object a line',
    ['FILE'],
    ['skip-bad', 'account'],
  ),
  'generations tail': row(
    'show generations of a running gateway as they end',
    [],
    ['failed', 'key', 'model', 'session', 'user'],
  ),
  migrate: row('show and apply what the schema of the database lacks', [], ['check']),
  'rotate-encryption-key': row('encrypt stored credentials under a new key', [], ['new-key-file']),
  'ledger verify': row('check the books of every account', []),
  'ledger rebuild': row('rebuild the rows of generations from the journal', []),
  'ledger accept-loss': row('go on without the records that a journal has lost', []),
  backup: row(
    'copy the data of a gateway, running or not, into a new directory',
    ['DIR'],
    ['without-content', 'without-encryption-key'],
  ),
  restore: row('put a backup into an empty data directory and verify its ledger', ['DIR']),
  completion: row('print a script that completes commands in your shell', ['bash|zsh|fish']),
  doctor: row('look for what is wrong and say how to mend it', []),
} as const satisfies Record<string, CommandRow>;

export type CommandWords = keyof typeof COMMAND_TABLE;

/** The groups of the usage text, with the first words of their commands. */
export const COMMAND_GROUPS: readonly (readonly [title: string, firstWords: readonly string[]])[] = [
  ['Run', ['serve', 'check-config', 'schema', 'doctor', 'completion']],
  ['Keys and money', ['keys', 'budgets', 'credits', 'guardrails', 'workspaces', 'members', 'accounts']],
  ['Providers and models', ['providers', 'byok', 'catalog']],
  ['Usage', ['generations', 'usage']],
  ['Data', ['backup', 'restore', 'ledger', 'migrate', 'rotate-encryption-key']],
];

export const COMMANDS_BY_WORDS: readonly (readonly [words: CommandWords, row: CommandRow])[] = Object.entries(
  COMMAND_TABLE,
) as [CommandWords, CommandRow][];

/** The commands that begin with these words: one command, a group such as `keys`, or all without words. */
export function commandsUnder(words: string): readonly (readonly [CommandWords, CommandRow])[] {
  if (words === '') return COMMANDS_BY_WORDS;
  return COMMANDS_BY_WORDS.filter(([name]) => name === words || name.startsWith(`${words} `));
}

export function flagRow(name: FlagName): FlagRow {
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
