import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { makeDataDirectory, temporaryDirectory } from '../../adapters/contracts/temporary-directory.ts';
import { type ModelServer, openModelServer } from '../../kit/fakes/model-server.ts';
import { typed } from '../../kit/program.ts';

const KEY = 'sk-right-4a7f19c3e8d25b60-WXYZ';

let upstream: ModelServer;
let temporary: ReturnType<typeof temporaryDirectory>;

beforeAll(async () => {
  upstream = await openModelServer(
    [{ id: 'llama3.2:3b', max_model_len: 131_072 }, { id: 'acme/Large' }],
    KEY,
  );
});

afterAll(() => upstream.close());

beforeEach(() => {
  temporary = temporaryDirectory();
  makeDataDirectory(dataDir());
  vi.stubEnv('LOG_LEVEL', 'silent');
  vi.stubEnv('KEY_OF_THE_TEST', KEY);
  vi.stubEnv('WRONG_KEY', 'sk-wrong-0123456789-ABCD');
});

afterEach(() => {
  vi.unstubAllEnvs();
  temporary.remove();
});

const SERVER = [
  '--base-url',
  'http://127.0.0.1:9/v1',
  '--dialect',
  'openai-chat',
  '--secret-env',
  'WRONG_KEY',
];

const dataDir = () => join(temporary.path, 'data');

const cli = (...words: string[]) => typed([...words, '--data-dir', dataDir()]);

async function result(...words: string[]): Promise<any> {
  const { code, out, err } = await cli(...words, '--json');
  expect({ code, err }).toEqual({ code: 0, err: '' });
  return JSON.parse(out);
}

const add = (variable: string, ...words: string[]) => [
  ...['providers', 'add', 'workshop', '--base-url', upstream.url, '--dialect', 'openai-chat'],
  ...['--secret-env', variable, ...words],
];

it('adds a server, says what came back, and which of its models are served', async () => {
  const { code, out } = await cli(...add('KEY_OF_THE_TEST'));
  expect(code).toBe(0);
  expect(out).toContain('workshop answered 200');
  expect(out).toContain('lists 2 models');
  expect(out).toContain('signalbox providers update workshop --models all');
  expect(out).toContain('It lists: llama3.2:3b, acme/Large');
  expect(out).not.toContain(KEY);

  const all = await result('providers', 'update', 'workshop', '--models', 'all');
  expect(all.models.map(({ id }: any) => id)).toEqual(['workshop/llama3.2-3b', 'acme/large']);
  expect(all.models[0].context_length).toBe(131_072);
  const priced = await cli('providers', 'update', 'workshop', '--prices', 'llama3.2:3b=0.10/0.40');
  expect(priced.out).toContain('Free, because they have no price (--prices sets one): acme/large');
  const { added } = await result('providers', 'list');
  expect(added[0].models[0].pricing).toEqual({ prompt: '0.0000001', completion: '0.0000004' });
  expect((await cli('providers', 'list')).out).toMatch(
    /workshop +stored +served +sk-\.\.\.WXYZ +workshop\/llama3\.2-3b, acme\/large +all/,
  );
  expect((await cli('providers', 'test', 'workshop')).out).toMatch(
    /llama3\.2:3b +workshop\/llama3\.2-3b +131072/,
  );
});

it('stores nothing when the test fails, unless asked to', async () => {
  const refused = await cli(...add('WRONG_KEY'));
  expect(refused.code).toBe(1);
  expect(refused.err).toContain('answered 401');
  expect(refused.err).toContain('Incorrect API key provided');
  expect(refused.err).toContain('--untested');
  expect(refused.err).not.toContain('sk-wrong-0123456789-ABCD');
  expect((await result('providers', 'list')).added).toEqual([]);
  const { provider } = await result(...add('WRONG_KEY', '--untested', '--models', 'llama3.2:3b'));
  expect(provider.models).toHaveLength(1);
  expect((await cli('providers', 'test', 'workshop')).code).toBe(1);
  await result('providers', 'update', 'workshop', '--secret-env', 'KEY_OF_THE_TEST');
  expect((await cli('providers', 'test', 'workshop')).code).toBe(0);
});

it('says how much of a long list is taken, and how many models may be served', async () => {
  const models = Array.from({ length: 2_500 }, (_, index) => ({ id: `m${index}` }));
  const server = await openModelServer(models, KEY);
  const words = ['providers', 'add', 'large', '--base-url', server.url, '--dialect', 'openai-chat'];
  const added = await cli(...words, '--secret-env', 'KEY_OF_THE_TEST');
  expect(added.out).toContain('lists 2500 models, of which the first 2000 are taken');
  expect(added.out).toMatch(/It lists: m0, m1, .*, m19 and 1980 others\n/);
  const all = await cli('providers', 'update', 'large', '--models', 'all');
  expect(all.code).toBe(1);
  expect(all.err).toContain('2000 models, and one provider can serve 500');
  await server.close();
});

it('serves some workspaces, is switched off and on, and removed', async () => {
  await result('workspaces', 'create', 'lab');
  const { provider } = await result(...add('KEY_OF_THE_TEST', '--workspaces', 'lab', '--models', 'all'));
  expect(provider.workspaces).toEqual(['lab']);
  expect((await result('providers', 'update', 'workshop', '--all-workspaces')).workspaces).toBeNull();
  expect((await result('providers', 'disable', 'workshop')).disabled).toBe(true);
  expect((await cli('providers', 'list')).out).toContain('disabled');
  expect((await result('providers', 'enable', 'workshop')).disabled).toBe(false);
  expect((await cli('providers', 'remove', 'workshop')).out).toBe(
    'workshop is removed, and its key is wiped.\n',
  );
  expect((await cli('providers', 'list')).out).toContain('signalbox providers add anthropic');
});

it.each([
  [['providers', 'update', 'workshop'], 'nothing to change'],
  [['providers', 'update', 'workshop', '--models', 'all'], 'was not added'],
  [['providers', 'remove', 'workshop'], 'not found'],
  [
    ['providers', 'add', 'signalbox', ...SERVER, '--untested', '--models', 'auto'],
    'models[0].id: is a router of this gateway, so that no model can have it: signalbox/auto',
  ],
  [['providers', 'add', 'antropic', '--secret-env', 'KEY_OF_THE_TEST'], 'Did you mean anthropic'],
  [['providers', 'add', 'workshop', '--dialect', 'openai'], '--dialect'],
  [['providers', 'update', 'x', '--workspaces', 'a', '--all-workspaces'], 'give one of them'],
])('refuses %j', async (words, message) => {
  const { code, err } = await cli(...words);
  expect(code).not.toBe(0);
  expect(err).toContain(message);
});
