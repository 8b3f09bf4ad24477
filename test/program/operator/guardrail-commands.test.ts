import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { openInstallation } from '../../../src/app/installation.ts';
import { assignGuardrail } from '../../../src/cli/commands/guardrails.ts';
import { makeDataDirectory, temporaryDirectory } from '../../adapters/contracts/temporary-directory.ts';
import { typed } from '../../kit/program.ts';

let temporary: ReturnType<typeof temporaryDirectory>;
let dataDir: string;
let hash: string;

beforeEach(async () => {
  temporary = temporaryDirectory();
  dataDir = join(temporary.path, 'data');
  makeDataDirectory(dataDir);
  vi.stubEnv('LOG_LEVEL', 'silent');
  const installation = await openInstallation({ dataDir, keyPrefix: 'sk-' });
  const { key } = await installation.keys.issue({ name: 'Invoice bot' });
  hash = key.hash;
  await installation.guardrails.create(key.accountId, { name: 'House' });
  await installation.guardrails.create(key.accountId, { name: 'Cards' });
  await installation.close();
});

afterEach(() => {
  vi.unstubAllEnvs();
  temporary.remove();
});

const guardrails = (...words: string[]) => typed(['guardrails', ...words, '--data-dir', dataDir]);

const shown = async () => (await typed(['keys', 'show', hash, '--data-dir', dataDir])).out;

const REPLACING =
  'Invoice bot has the guardrail "House". A key has one guardrail of its own: none of the rules of that one would ' +
  'hold for it any more.\n';

it('gives a key a guardrail and takes it away', async () => {
  const prefix = hash.slice(0, 8);
  expect(await guardrails('assign', 'House', prefix)).toMatchObject({
    code: 0,
    out: 'Invoice bot has the guardrail "House" now.\n',
  });
  expect(await shown()).toMatch(/^GUARDRAILS +House \(of the key\)$/m);
  expect((await guardrails('assign', 'House', prefix)).code).toBe(0);
  expect(await guardrails('unassign', 'Cards', prefix)).toMatchObject({
    code: 1,
    out: 'Invoice bot does not have the guardrail "Cards".\n',
  });
  expect((await guardrails('unassign', 'House', prefix)).code).toBe(0);
  expect(await shown()).toMatch(/^GUARDRAILS +-$/m);
});

it('names the guardrail that would be replaced, and replaces it with --yes alone if there is no terminal', async () => {
  await guardrails('assign', 'House', hash);
  expect(await guardrails('assign', 'Cards', hash)).toMatchObject({
    code: 1,
    out: `${REPLACING}Nothing was changed; --yes replaces it.\n`,
  });
  expect(await shown()).toContain('House (of the key)');
  expect(await guardrails('assign', 'Cards', hash, '--yes')).toMatchObject({
    code: 0,
    out: 'Invoice bot has the guardrail "Cards" now. It replaced "House".\n',
  });
  expect(await shown()).toContain('Cards (of the key)');
});

it.each([
  ['n', 'Nothing was changed.\n', 'House'],
  ['y', 'Invoice bot has the guardrail "Cards" now. It replaced "House".\n', 'Cards'],
])('asks on a terminal before it replaces one: %s', async (answer, text, kept) => {
  await guardrails('assign', 'House', hash);
  const ask = vi.fn(async () => answer);
  const input = { guardrail: 'Cards', key: hash, account: undefined };
  expect(await assignGuardrail({ dataDir }, input, { yes: false, ask })).toMatchObject({ text });
  expect(ask).toHaveBeenCalledWith(`${REPLACING}Replace it by "Cards"? [y/N] `);
  expect(await shown()).toContain(`${kept} (of the key)`);
});

it('refuses guardrails and keys that are not there', async () => {
  expect((await guardrails('assign', 'Street', hash)).err).toContain(
    'no guardrail has the id or name Street',
  );
  expect((await guardrails('assign', 'House', '0'.repeat(64))).err).toContain("no key's hash begins with");
});
