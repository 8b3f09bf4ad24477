import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const source = join(root, 'src');

/**
 * What each folder may import besides itself, from the lowest floor to the highest: only folders listed before it.
 * `app` composes all others, so that it may import each of them.
 */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  kit: [],
  ir: ['kit'],
  ports: ['ir', 'kit'],
  config: ['ports', 'kit'],
  net: ['kit'],
  catalog: ['config', 'ir', 'kit'],
  dialects: ['catalog', 'config', 'ir', 'kit'],
  tokens: ['ir', 'kit'],
  upstream: ['dialects', 'catalog', 'net', 'ir', 'kit'],
  web: ['catalog', 'net', 'config', 'ir', 'kit'],
  tools: ['web', 'catalog', 'net', 'config', 'ports', 'ir', 'kit'],
  mcp: ['tools', 'net', 'config', 'ports', 'ir', 'kit'],
  routing: ['dialects', 'catalog', 'config', 'ports', 'ir', 'kit'],
  stages: ['mcp', 'tools', 'web', 'upstream', 'dialects', 'catalog', 'net', 'config', 'ports', 'ir', 'kit'],
  gateway: [
    'stages',
    'routing',
    'tools',
    'web',
    'upstream',
    'tokens',
    'dialects',
    'catalog',
    'net',
    'config',
    'ports',
    'ir',
    'kit',
  ],
  store: ['net', 'ports', 'ir', 'kit'],
  following: ['ports', 'ir', 'kit'],
  broadcast: ['following', 'net', 'ports', 'ir', 'kit'],
  contract: ['broadcast', 'dialects', 'ports', 'ir', 'kit'],
  manage: ['contract', 'broadcast', 'stages', 'routing', 'catalog', 'config', 'ports', 'ir', 'kit'],
  classify: ['contract', 'manage', 'gateway', 'following', 'dialects', 'ports', 'ir', 'kit'],
  workers: ['net', 'ports', 'ir', 'kit'],
  endpoints: ['contract', 'manage', 'classify', 'ports', 'ir', 'kit'],
  control: ['endpoints', 'manage', 'contract', 'config', 'ports', 'ir', 'kit'],
  http: [
    'endpoints',
    'contract',
    'manage',
    'gateway',
    'mcp',
    'dialects',
    'catalog',
    'net',
    'config',
    'ports',
    'ir',
    'kit',
  ],
  settings: [
    'http',
    'manage',
    'gateway',
    'stages',
    'routing',
    'mcp',
    'tools',
    'web',
    'dialects',
    'catalog',
    'store',
    'config',
    'ports',
    'ir',
    'kit',
  ],
  operator: [
    'endpoints',
    'settings',
    'http',
    'control',
    'contract',
    'manage',
    'gateway',
    'stages',
    'routing',
    'upstream',
    'catalog',
    'net',
    'config',
    'ports',
    'kit',
  ],
  doctor: ['operator', 'settings', 'control', 'contract', 'manage', 'store', 'net', 'config', 'ports', 'kit'],
  app: [
    'doctor',
    'operator',
    'settings',
    'http',
    'control',
    'workers',
    'classify',
    'manage',
    'contract',
    'broadcast',
    'following',
    'store',
    'gateway',
    'stages',
    'routing',
    'mcp',
    'tools',
    'upstream',
    'tokens',
    'catalog',
    'net',
    'config',
    'ports',
    'ir',
    'kit',
  ],
  cli: ['app', 'doctor', 'settings', 'workers', 'control', 'manage', 'store', 'config', 'ports', 'ir', 'kit'],
};

/** The same for the folders of the console. */
const CONSOLE_MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  format: [],
  address: [],
  api: [],
  parts: ['format', 'address', 'api'],
  views: ['parts', 'format', 'address', 'api'],
  shell: ['views', 'parts', 'format', 'address', 'api'],
};

/** Has the types of `src` that the console uses. All other files import `src/contract` alone, if anything of `src`. */
const CONSOLE_TYPES = 'console/src/api/contract.ts';

/** Names of the files in a folder of a dialect, the same in all of them; each folder has those that apply. */
const DIALECT_FILES: ReadonlySet<string> = new Set(
  [
    ['wire', 'wire-content', 'wire-tools'],
    ['parse', 'parse-content', 'parse-calls', 'parse-tools', 'parse-files'],
    ['render', 'render-content', 'render-parts', 'render-tools', 'render-reasoning', 'render-losses'],
    ['hosted-tools', 'local-shells', 'render-context'],
    ['relay', 'relay-content', 'count-tokens'],
    ['decode', 'decode-content', 'decode-calls', 'decode-body'],
    ['encode', 'encode-content', 'encode-calls', 'encode-relay', 'encode-body'],
    ['settings', 'citations', 'reasoning', 'usage', 'finish', 'error', 'media', 'ids'],
    ['quirks', 'cohere', 'model-traits', 'kept-calls'],
    ['embeddings', 'compaction', 'summary'],
    ['facts', 'index'],
  ].flat(),
);

/** Names of the files of an event store: first those that each has. What speaks to its server is in `driver/`. */
const EVENT_STORE_FILES: readonly string[] = [
  ...['event-store', 'schema', 'stored-state', 'insert-events', 'insert-tags'],
  ...['query-sql', 'log-sql', 'conversations-sql', 'tags-sql', 'app-totals'],
];
const SOME_EVENT_STORE_FILES: ReadonlySet<string> = new Set([
  ...['tables', 'prune-events', 'event-sql', 'breakdown-sql', 'event-answers', 'log-terms'],
  ...['pack-events', 'stage-events'],
]);

/** Folders of `dialects` that are no dialect. */
const BESIDE_DIALECTS: ReadonlySet<string> = new Set(['shared', 'fit']);

/** Folders of dialects that have embeddings and no conversations. */
const EMBEDDING_FOLDERS: ReadonlySet<string> = new Set(['embeddings', 'cohere']);

/** Files in the folders of dialects whose name is not on the list. */
function oddDialectFiles(paths: readonly string[]): readonly string[] {
  return paths.filter((file) => {
    const folder = dialectFolderOf(file);
    if (folder === undefined) return false;
    return !DIALECT_FILES.has(file.slice(`dialects/${folder}/`.length).replace(/\.ts$/, ''));
  });
}

/** The dialect whose folder a file is in, if any. */
function dialectFolderOf(file: string): string | undefined {
  const [room, folder = '', ...rest] = file.split('/');
  return room === 'dialects' && rest.length > 0 && !BESIDE_DIALECTS.has(folder) ? folder : undefined;
}

/** Imports of one dialect by another: what two of them need is in `dialects/shared/`. */
function importsBetweenDialects(all: readonly Import[]): readonly Import[] {
  return all.filter(({ from, to }) => {
    const [own, other] = [dialectFolderOf(from), dialectFolderOf(to)];
    return own !== undefined && other !== undefined && own !== other;
  });
}

/** Imports of a dialect's files by anything but its own folder and the table of dialects. */
function importsPastTheTable(all: readonly Import[]): readonly Import[] {
  return all.filter(({ from, to }) => {
    const isOwn = dialectFolderOf(from) !== undefined || from === 'dialects/dialects.ts';
    return !isOwn && dialectFolderOf(to) !== undefined;
  });
}

const DIALECT_NAMES = 'responses|messages|chat|gemini|bedrock|(?:gemini-|bedrock-|cohere-)?embeddings';

/** Files besides the dialects that may compare or list names of dialects, and why. */
const NAMES_OF_DIALECTS: ReadonlyMap<string, string> = new Map([
  ['catalog/model-kind.ts', 'an output modality has the same name'],
  ['dialects/dialects.ts', 'the table of dialects'],
  ['dialects/lane.ts', 'requests of embeddings go to other dialects than conversations'],
  ['dialects/shared/reasoning/custody.ts', 'the word is part of seals that the gateway wraps'],
  ['dialects/shared/reasoning/seals-taken.ts', 'the same'],
]);

/** Whether a text compares something with the name of a dialect, or has an object with two such names as keys. */
function namesDialects(text: string): boolean {
  const code = text.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');
  if (new RegExp(`[=!]== '(?:${DIALECT_NAMES})'|case '(?:${DIALECT_NAMES})':`).test(code)) return true;
  const objects = code.match(/\{[^{}]*\}/g) ?? [];
  const keys = new RegExp(`(?:^|[{,])\\s*'?(${DIALECT_NAMES})'?:`, 'gm');
  return objects.some((object) => new Set([...object.matchAll(keys)].map(([, name]) => name)).size > 1);
}

/** Headings within files of a dialect, in their order; each file has those that apply. */
const DIALECT_SECTIONS: Readonly<Record<string, readonly string[]>> = {
  'wire.ts': [
    'Content parts',
    'Messages',
    'Settings',
    'The request',
    'Kinds of fields',
    'Items',
    'Reasoning',
    'Limits',
    'Answers',
  ],
  'parse.ts': [
    'What is refused',
    'Undocumented fields',
    'Models',
    'Conversation',
    'Tools',
    'Settings',
    'Sampling',
    'Reasoning',
    'Output format',
    'Service tier',
    'Fields of this dialect alone',
  ],
  'parse-content.ts': [
    'Conversation',
    'Messages',
    'Thoughts',
    'Calls and results',
    'Images',
    'Content parts',
    'Members of any item',
    'References',
  ],
  'parse-files.ts': ['Where files are named', 'What names a file', 'What replaces it'],
  'reasoning.ts': ['From the wire', 'To the wire', 'Seals'],
  'finish.ts': ['From the upstream', 'For the caller'],
  'relay.ts': ['Conversation', 'Cache marks', 'Sampling', 'Output limit', 'Output format', 'Includes'],
  'relay-content.ts': [
    'Conversation',
    'Calls and results',
    'Traces of this gateway in earlier turns',
    'System prompts in the list',
    'Quirks',
    'Tools',
  ],
  'decode.ts': [
    'The answer',
    'Start and end',
    'Content',
    'Order of items',
    'Log probabilities',
    'Whole bodies',
  ],
  'decode-content.ts': ['Open items', 'Items', 'Closing', 'Kinds of blocks', 'Thoughts that come twice'],
  'encode.ts': ['Content', 'Parts and text', 'Tool calls', 'Chunks', 'Relay', 'The end'],
  'encode-content.ts': [
    'Items',
    'Messages',
    'Log probabilities',
    'Thoughts',
    'Calls',
    'Images',
    'Other items',
    'Refusals',
    'Relay',
    'What a stream has sent',
    'Frames',
    'Shared with relayed streams and whole bodies',
  ],
  'encode-body.ts': [
    'The whole body',
    'Relay',
    'Content',
    'Members that streams and whole bodies share',
    'The end',
  ],
  'render.ts': [
    'Conversation',
    'Cache marks',
    'Sampling',
    'Output limit',
    'Output format',
    'Modalities',
    'Service tier',
    'Metadata and end users',
    'Includes',
    'Betas',
  ],
  'render-content.ts': [
    'Turns of the model',
    'Messages',
    'Thoughts',
    'Calls',
    'Results of calls',
    'Images',
    'Other items',
  ],
  'render-tools.ts': ['One tool', 'Tools of earlier turns', 'The choice among them'],
  'render-reasoning.ts': [
    'By effort',
    'By budget',
    'Switched off',
    'Without reasoning settings',
    'Settings without a field',
    'Relay lane',
  ],
  'render-losses.ts': [
    'Fields of the request',
    'Members of items, parts and tools',
    'Fields that the endpoint does not take',
    'Members that only the gateway reads',
  ],
};

/** Functions that files of one name export in every dialect of conversations. */
const DIALECT_FUNCTIONS: Readonly<Record<string, readonly string[]>> = {
  'parse.ts': ['parseRequest'],
  'parse-files.ts': ['fileParts'],
  'parse-tools.ts': ['parseTools', 'parseToolChoice'],
  'finish.ts': ['readFinish'],
  'relay.ts': ['renderRelay'],
  'render.ts': ['renderRequest'],
  'render-content.ts': ['renderConversation'],
  'render-tools.ts': ['renderTools'],
  'render-reasoning.ts': ['renderReasoning'],
  'decode.ts': ['createDecoder', 'decodeBody'],
  'encode.ts': ['createEncoder'],
  'encode-body.ts': ['encodeBody'],
  'error.ts': ['readError', 'failureOf'],
};

/** Functions of the list that a file does not export. */
function missingFunctions(file: string, text: string): readonly string[] {
  const folder = dialectFolderOf(file);
  if (folder === undefined || EMBEDDING_FOLDERS.has(folder)) return [];
  const names = DIALECT_FUNCTIONS[file.split('/').at(-1) ?? ''] ?? [];
  return names.filter((name) => !new RegExp(`^export .*\\b${name}\\b`, 'm').test(text));
}

/** The headings of a text that are not on the list or not in its order. */
function oddSections(text: string, order: readonly string[]): readonly string[] {
  const headings = [...text.matchAll(/^ *\/\/ --- (.+?) -+$/gm)].map((match) => match[1] as string);
  const places = headings.map((heading) => order.indexOf(heading));
  return headings.filter((_, at) => (places[at] as number) <= (places[at - 1] ?? -1));
}

/** Files that reach the network, or listen on it. All others go through one of them. */
const NETWORK_FILES: readonly string[] = [
  // Finds a free port for workers to listen on.
  'app/worker-owner.ts',
  // The operator's own commands.
  'cli/read-source.ts',
  // The sockets between a worker and its owner.
  'cli/worker.ts',
  // The control socket in the data directory.
  'control/listen.ts',
  'control/read-tail.ts',
  'control/send-command.ts',
  // Asks a gateway on this machine whether it answers.
  'doctor/check-server.ts',
  // Sockets of the HTTP client and of the server.
  'net/http1/client/open-socket.ts',
  'net/http1/server/listener.ts',
  // Looks up names for guarded sockets.
  'net/transport/egress-guard.ts',
  // The database.
  'store/sql/postgres/postgres-connection.ts',
  'store/sql/postgres/postgres-socket.ts',
];

/** Files that open sockets of the HTTP client: calls of providers, and the ways out for all other addresses. */
const SOCKET_USERS: readonly string[] = [
  'net/egress/egress.ts',
  'net/egress/service-client.ts',
  'net/transport/egress-guard.ts',
  'net/transport/reach.ts',
  'net/transport/transport.ts',
];

const NETWORK_MODULES =
  /^(?:node:)?(?:http|https|http2|net|tls|dgram|dns)(?:\/promises)?$|^(?:undici|postgres)$/;

/** What these modules have that reaches nothing. */
const HARMLESS_NAMES: ReadonlySet<string> = new Set(
  'isIP isIPv4 isIPv6 BlockList METHODS STATUS_CODES'.split(' '),
);

/** Calls of globals, and no methods or their declarations. */
const GLOBAL_CALLS = /(?<![.#\w])(?<!async )fetch\((?!\w+: )|\bnew (?:WebSocket|EventSource)\(/;

/** Whether a file can reach the network by itself: it imports more than types and harmless names, or calls `fetch`. */
function reachesNetwork(text: string): boolean {
  const code = text.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$|`[^`]*`/gm, '');
  const statements = [...code.matchAll(/^import (?!type\b)(.+?) from '([^']+)';$/gms)];
  const imports = statements.filter((match) => NETWORK_MODULES.test(match[2] ?? ''));
  const isHarmless = (list: string) =>
    list
      .replace(/[{}]/g, '')
      .split(',')
      .map((name) => name.trim())
      .every((name) => name === '' || name.startsWith('type ') || HARMLESS_NAMES.has(name));
  const loadsLate = [...code.matchAll(/(?:import|require)\(\s*'([^']+)'/g)];
  return (
    imports.some((match) => !isHarmless(match[1] ?? '')) ||
    loadsLate.some((match) => NETWORK_MODULES.test(match[1] ?? '')) ||
    GLOBAL_CALLS.test(code)
  );
}

interface Import {
  readonly from: string;
  readonly to: string;
}

const files = readdirSync(source, { recursive: true })
  .map(String)
  .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'));

const textOf = (file: string) => readFileSync(join(source, file), 'utf8');

const imports: Import[] = files.flatMap((from) => importsOf(from, textOf(from)));

function importsOf(from: string, text: string): Import[] {
  return [...text.matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g)].map((match) => ({
    from,
    to: normalize(join(dirname(from), match[1] as string)),
  }));
}

/** All that is written in TypeScript, tests included, by paths from the root of the repository. */
const everything = ['src', 'console/src', 'test', 'bench'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.tsx?$/.test(file))
    .map((file) => join(folder, file)),
);

const allImports = everything.flatMap((from) => importsOf(from, readFileSync(join(root, from), 'utf8')));

const roomOf = (file: string) => file.split('/')[0] as string;

/**
 * Files that remain after removing, again and again, every file that imports none or is imported by none of the rest.
 */
function circlesIn(edges: readonly Import[]): readonly string[] {
  let left = edges;
  for (;;) {
    const importers = new Set(left.map(({ from }) => from));
    const imported = new Set(left.map(({ to }) => to));
    const next = left.filter(({ from, to }) => importers.has(to) && imported.has(from));
    if (next.length === left.length) return [...new Set(next.map(({ from, to }) => `${from} -> ${to}`))];
    left = next;
  }
}

/** Imports between folders beside each other, at every depth: `gateway/answer -> gateway/record`. */
function importsBetweenFolders(all: readonly Import[]): readonly Import[] {
  return all.flatMap(({ from, to }) => {
    const [own, other] = [dirname(from).split('/'), dirname(to).split('/')];
    const at = own.findIndex((name, depth) => name !== other[depth]);
    if (at < 1 || other[at] === undefined) return [];
    return [{ from: own.slice(0, at + 1).join('/'), to: other.slice(0, at + 1).join('/') }];
  });
}

describe('the structure of the source', () => {
  it('finds files and imports', () => {
    expect(files.length).toBeGreaterThan(40);
    expect(imports.length).toBeGreaterThan(100);
  });

  it('imports one way only', () => {
    const wrong = imports.filter(({ from, to }) => {
      const [room, target] = [roomOf(from), roomOf(to)];
      return room !== target && !(MAY_IMPORT[room] ?? []).includes(target);
    });
    expect(wrong).toEqual([]);
  });

  it('has no file outside of a folder, and no folder outside of the table', () => {
    const rooms = [...new Set(files.map(roomOf))].sort();
    expect(rooms).toEqual(Object.keys(MAY_IMPORT).sort());
  });

  it.each([MAY_IMPORT, CONSOLE_MAY_IMPORT])('has one order of all folders', (table) => {
    const floors = Object.keys(table);
    for (const [room, below] of Object.entries(table)) {
      expect(below.filter((each) => floors.indexOf(each) >= floors.indexOf(room))).toEqual([]);
    }
  });

  it('allows no import that nothing makes', () => {
    const made = new Set(imports.map(({ from, to }) => `${roomOf(from)} -> ${roomOf(to)}`));
    const allowed = Object.entries(MAY_IMPORT).flatMap(([room, below]) =>
      below.map((each) => `${room} -> ${each}`),
    );
    expect(allowed.filter((each) => !made.has(each))).toEqual([]);
  });

  it('has no circles between files of program, console, tests and bench, type-only imports included', () => {
    expect(circlesIn(allImports)).toEqual([]);
    const planted = [{ from: 'console/src/parts/keyboard.ts', to: 'console/src/shell/views.ts' }];
    expect(circlesIn([...allImports, ...planted])).not.toEqual([]);
  });

  it('imports no test, and tests only from tests and bench', () => {
    const wrong = allImports.filter(({ from, to }) => {
      const isOfTests = /^(test|bench)\/|\.test\.tsx?$/.test(from);
      return /\.test\.tsx?$/.test(to) || (!isOfTests && /^(test|bench)\//.test(to));
    });
    expect(wrong).toEqual([]);
  });

  it('imports one way only in the console, whose folders are all in its table', () => {
    const place = (file: string) => file.split('/').slice(2);
    const ours = allImports.filter(({ from }) => from.startsWith('console/') && !/\.test\.tsx?$/.test(from));
    const wrong = ours.filter(({ from, to }) => {
      // Types of what contracts are made of stand beside theirs, in one file.
      if (to.startsWith('src/')) return !to.startsWith('src/contract/') && from !== CONSOLE_TYPES;
      const [[room = ''], [target = '']] = [place(from), place(to)];
      return room !== target && target !== 'styles' && !(CONSOLE_MAY_IMPORT[room] ?? []).includes(target);
    });
    expect(wrong).toEqual([]);
    const rooms = everything.filter((file) => file.startsWith('console/')).map((file) => place(file)[0]);
    expect([...new Set(rooms)].sort()).toEqual(Object.keys(CONSOLE_MAY_IMPORT).sort());
  });

  it('has no circles between folders of a room', () => {
    expect(circlesIn(importsBetweenFolders(imports))).toEqual([]);
    const planted = { from: 'gateway/record/settle.ts', to: 'gateway/answer/answering.ts' };
    expect(circlesIn(importsBetweenFolders([...imports, planted]))).toContain(
      'gateway/record -> gateway/answer',
    );
  });

  it('orders the sections of every dialect alike', () => {
    const odd = files.flatMap((file) => {
      const order = file.startsWith('dialects/') ? DIALECT_SECTIONS[file.split('/').at(-1) ?? ''] : undefined;
      return order === undefined
        ? []
        : oddSections(textOf(file), order).map((heading) => `${file}: ${heading}`);
    });
    expect(odd).toEqual([]);
    expect(oddSections('// --- b ---\n// --- a ---\n// --- c ---', ['a', 'b'])).toEqual(['a', 'c']);
  });

  it('names the functions of every dialect alike', () => {
    const missing = files.flatMap((file) =>
      missingFunctions(file, textOf(file)).map((name) => `${file}: ${name}`),
    );
    expect(missing).toEqual([]);
    expect(missingFunctions('dialects/chat/relay.ts', 'export function relay() {}')).toEqual(['renderRelay']);
  });

  it('names the files of every dialect alike', () => {
    expect(oddDialectFiles(files)).toEqual([]);
    const planted = ['dialects/chat/sent.ts', 'dialects/gemini/parts/render.ts'];
    expect(oddDialectFiles([...files, ...planted])).toEqual(planted);
  });

  it.each(['duckdb', 'clickhouse'])('names the files of every event store alike: %s', (store) => {
    const place = `store/events/${store}/`;
    const names = files
      .filter((file) => file.startsWith(place))
      .map((file) => file.slice(place.length).replace(/\.ts$/, ''))
      .filter((name) => !name.includes('/'));
    expect(EVENT_STORE_FILES.filter((name) => !names.includes(name))).toEqual([]);
    const others = names.filter((name) => !EVENT_STORE_FILES.includes(name));
    expect(others.filter((name) => !SOME_EVENT_STORE_FILES.has(name))).toEqual([]);
  });

  it('makes one value of every dialect', () => {
    const folders = new Set(files.flatMap((file) => dialectFolderOf(file) ?? []));
    for (const folder of folders) {
      const exported = textOf(`dialects/${folder}/index.ts`).match(/^export .*/gm) ?? [];
      expect(exported.map((line) => /^export const (\w+): /.exec(line)?.[1])).toEqual([folder]);
    }
    const table = imports.filter(({ from, to }) => from === 'dialects/dialects.ts' && dialectFolderOf(to));
    expect(table.filter(({ to }) => !to.endsWith('/index.ts'))).toEqual([]);
    expect(table.length).toBe(folders.size);
  });

  it('imports no dialect into another', () => {
    expect(importsBetweenDialects(imports)).toEqual([]);
    const planted = { from: 'dialects/gemini/render.ts', to: 'dialects/chat/render.ts' };
    expect(importsBetweenDialects([...imports, planted])).toEqual([planted]);
  });

  it('imports dialects only through their table', () => {
    expect(importsPastTheTable(imports)).toEqual([]);
    const planted = [
      { from: 'dialects/shared/media/check-media.ts', to: 'dialects/chat/media.ts' },
      { from: 'gateway/record/settle.ts', to: 'dialects/chat/finish.ts' },
    ];
    expect(importsPastTheTable([...imports, ...planted])).toEqual(planted);
  });

  it('asks facts of dialects instead of comparing their names', () => {
    const naming = files.filter((file) => dialectFolderOf(file) === undefined && namesDialects(textOf(file)));
    expect(naming.filter((file) => !NAMES_OF_DIALECTS.has(file))).toEqual([]);
  });

  it.each([
    "if (request.format !== 'messages') return;",
    "switch (name) {\n  case 'chat':",
    "const WORDS = { chat: 'a', 'gemini-embeddings': 'b' };",
    "const WORDS = {\n  responses: 'a',\n  messages: 'b',\n};",
  ])('would see the names of dialects in %j', (code) => {
    expect(namesDialects(code)).toBe(true);
  });

  it('reaches the network in a few known files', () => {
    expect(files.filter((file) => reachesNetwork(textOf(file))).sort()).toEqual(NETWORK_FILES);
    const users = imports
      .filter(({ to }) => to === 'net/http1/client/open-socket.ts')
      .map(({ from }) => from);
    expect(users.filter((file) => !file.startsWith('net/http1/')).sort()).toEqual(SOCKET_USERS);
  });

  it.each([
    "import { get } from 'node:https';",
    "import { isIP, connect } from 'node:net';",
    "import {\n  request,\n} from 'undici';",
    "import * as dns from 'node:dns/promises';",
    "const { connect } = await import('node:tls');",
    'const reply = await fetch(address);',
    'void fetch(address);',
    'new WebSocket(address);',
  ])('would see %s', (code) => {
    expect(reachesNetwork(code)).toBe(true);
  });

  it.each([
    "import { isIP, type Socket } from 'node:net';",
    "import type { Socket } from 'node:net';",
    'await egress.fetch(address);',
    '// fetch(address)',
  ])('would not mind %s', (code) => {
    expect(reachesNetwork(code)).toBe(false);
  });

  it('reads the environment in one place', () => {
    const readers = files.filter((file) => /process\.env/.test(textOf(file)));
    expect(readers).toEqual(['config/load.ts']);
  });

  it('has no program in a text', () => {
    expect(files.filter((file) => /\beval: true\b|'-e'|\bnew Function\(/.test(textOf(file)))).toEqual([]);
  });

  it('leaves URL.canParse alone, which refuses valid URLs on Node 20', () => {
    expect(files.filter((file) => /URL\.canParse\(/.test(textOf(file)))).toEqual([]);
  });

  it('has no room for leftovers', () => {
    expect(files.filter((file) => /(^|\/)(utils?|helpers?|common|misc)(\/|\.ts$)/.test(file))).toEqual([]);
  });

  it('keeps unfinished work out', () => {
    expect(files.filter((file) => /\b(TODO|FIXME|XXX)\b/.test(textOf(file)))).toEqual([]);
  });
});
