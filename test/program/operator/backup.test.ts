import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { run } from '../../../src/cli/run.ts';
import { temporaryDirectory } from '../../adapters/contracts/temporary-directory.ts';
import { openTestGateway, type TestGateway } from '../../kit/gateway-harness.ts';
import type { Ended } from '../../kit/program.ts';

let temporary: ReturnType<typeof temporaryDirectory>;
let gateway: TestGateway;
let backup: string;
let restored: string;

const ask = () =>
  gateway.post('/chat/completions', {
    model: 'simulator/standard',
    messages: [{ role: 'user', content: 'Hello' }],
  });

beforeEach(async () => {
  temporary = temporaryDirectory();
  backup = join(temporary.path, 'backup');
  restored = join(temporary.path, 'restored');
  gateway = await openTestGateway({ credits: { initial_usd: 10 } });
  for (let count = 0; count < 3; count++) expect((await ask()).status).toBe(200);
});

afterEach(async () => {
  await gateway.close();
  temporary.remove();
});

async function command(dataDir: string, ...words: string[]): Promise<Ended> {
  let out = '';
  let err = '';
  const output = { out: (text: string) => (out += text), err: (text: string) => (err += text) };
  const code = await run([...words, '--config', gateway.configFile, '--data-dir', dataDir], output as never);
  return { code: code ?? null, out, err };
}

const backUp = (...flags: string[]) => command(gateway.dataDir, 'backup', backup, ...flags);
const restore = () => command(restored, 'restore', backup);
const verify = async (dataDir: string) => {
  const { journal: _, ...rest } = JSON.parse((await command(dataDir, 'ledger', 'verify', '--json')).out);
  return rest;
};

describe('backup', () => {
  it('copies a running gateway, and restore puts it elsewhere with the same books, keys and files', async () => {
    const form = new FormData();
    form.set('file', new Blob(['the content']), 'a.txt');
    form.set('purpose', 'user_data');
    const file = (await (await gateway.fetch('/files', { method: 'POST', body: form })).json()) as {
      id: string;
    };
    const { code, out, err } = await backUp();
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toMatch(/is complete: \d+ files/);
    expect(out).toContain('The books in it are right; 0 generations under way.');
    expect(readdirSync(join(gateway.dataDir, 'backups'))).toEqual([]);
    for (const name of ['manifest.ndjson', 'data/signalbox.sqlite', 'data/encryption-key']) {
      expect(statSync(join(backup, name)).mode & 0o077).toBe(0);
    }
    const told = await restore();
    expect({ code: told.code, err: told.err }).toEqual({ code: 0, err: '' });
    expect(told.out).toContain('The books are right.');
    expect(await verify(restored)).toEqual(await verify(gateway.dataDir));
    expect(readFileSync(join(restored, 'files', file.id), 'utf8')).toBe('the content');
    const [keys, copies] = await Promise.all(
      [gateway.dataDir, restored].map(async (dir) => (await command(dir, 'keys', 'list', '--json')).out),
    );
    expect(copies).toBe(keys);
  });

  it('copies a gateway that does not run, and changes nothing of it', async () => {
    await gateway.drain(0);
    // SQLite moves the content of its log into the database.
    const isOfGateway = (name: unknown) => !/^backups$|-wal$|-shm$/.test(String(name));
    const before = readdirSync(gateway.dataDir, { recursive: true }).toSorted();
    expect((await backUp()).code).toBe(0);
    const after = readdirSync(gateway.dataDir, { recursive: true }).toSorted();
    expect(after.filter(isOfGateway)).toEqual(before.filter(isOfGateway));
    expect((await restore()).code).toBe(0);
    expect(await verify(restored)).toMatchObject({ generations: 3, accounts: [{ fault: null }] });
  });

  it('names the accounts in its books', async () => {
    const { out } = await backUp('--json');
    const { accounts } = JSON.parse((await command(gateway.dataDir, 'ledger', 'verify', '--json')).out);
    expect(accounts).toHaveLength(1);
    // Causes are in the rows of generations, not in the books.
    const statements = accounts.map(({ written_off_by_cause: _, ...statement }: any) => statement);
    expect(JSON.parse(out).accounts).toEqual(statements);
  });

  it('leaves out what flags name, and says which key a restore needs', async () => {
    const { code, out } = await backUp('--without-content', '--without-encryption-key');
    expect(code).toBe(0);
    expect(out).toContain('SIGNALBOX_ENCRYPTION_KEY');
    expect(readdirSync(join(backup, 'data'))).not.toContain('content');
    expect(readdirSync(join(backup, 'data'))).not.toContain('encryption-key');
  });

  it('copies what the gateway keeps, but no locks, caches, drafts and files of others', async () => {
    const strange = join(gateway.dataDir, 'older-backup', 'data');
    mkdirSync(strange, { recursive: true });
    writeFileSync(join(strange, 'encryption-key'), 'x');
    writeFileSync(join(gateway.dataDir, 'files', 'whole'), 'x');
    writeFileSync(join(gateway.dataDir, 'files', 'half.draft'), 'x');
    // It is written when the first rows are fed, which the backup causes after it has copied small files.
    await expect.poll(() => existsSync(join(gateway.dataDir, 'events-fed.json'))).toBe(true);
    expect((await backUp()).code).toBe(0);
    const copied = readdirSync(join(backup, 'data'), { recursive: true }) as string[];
    expect(copied.filter((name) => /older|draft|lock|sock|cache|-wal|backups/.test(name))).toEqual([]);
    const left = readdirSync(gateway.dataDir).filter((name) => !copied.includes(name));
    const meant =
      /^(?:lock.*|control\.sock|signalbox\.sqlite-.*|events\.duckdb.*|cache|imports|backups|older-backup|signalbox\.yaml)$/;
    expect(left.filter((name) => !meant.test(name))).toEqual([]);
  });

  it('refuses a target in the data directory, behind a link too', async () => {
    const link = join(temporary.path, 'link');
    symlinkSync(gateway.dataDir, link);
    for (const target of [join(gateway.dataDir, 'b'), join(link, 'deep', 'b'), gateway.dataDir]) {
      expect(await command(gateway.dataDir, 'backup', target, '--without-encryption-key')).toMatchObject({
        code: 1,
        err: `signalbox: ${target} is in the data directory ${gateway.dataDir}; name a directory outside it for the backup\n`,
      });
    }
    expect(readdirSync(gateway.dataDir)).not.toContain('b');
  });

  it('refuses a directory that has something in it, and a data directory that is not there', async () => {
    mkdirSync(backup);
    writeFileSync(join(backup, 'other'), '');
    expect(await backUp()).toMatchObject({
      code: 1,
      err: `signalbox: ${backup} is not empty; name a new or an empty directory for the backup\n`,
    });
    const none = await command(join(temporary.path, 'none'), 'backup', join(temporary.path, 'b'));
    expect(none).toMatchObject({ code: 1, err: expect.stringContaining('no gateway has kept data in') });
  });
});

describe('restore', () => {
  beforeEach(async () => {
    expect((await backUp()).code).toBe(0);
  });

  it.each<[string, () => void, string]>([
    ['has no manifest', () => rmSync(join(backup, 'manifest.ndjson')), 'cut off before its end'],
    [
      'has half a manifest',
      () => truncateSync(join(backup, 'manifest.ndjson'), 400),
      'is cut off or damaged',
    ],
    [
      'has a manifest without its last line',
      () => {
        const file = join(backup, 'manifest.ndjson');
        writeFileSync(file, readFileSync(file, 'utf8').replace(/.*\n$/, ''));
      },
      'ends too early',
    ],
    ['lacks a file', () => rmSync(join(backup, 'data', 'hash-key')), 'is missing: the backup is damaged'],
    [
      'has a shorter file',
      () => truncateSync(join(backup, 'data', 'hash-key'), 3),
      'has 3 bytes instead of 32',
    ],
    [
      'has a changed file',
      () => writeFileSync(join(backup, 'data', 'hash-key'), 'x'.repeat(32)),
      'is not what was backed up',
    ],
    [
      'would write elsewhere',
      () => {
        const file = join(backup, 'manifest.ndjson');
        writeFileSync(file, readFileSync(file, 'utf8').replace('"hash-key"', '"../hash-key"'));
      },
      'names no file of a data directory',
    ],
  ])('refuses a backup that %s', async (_, damage, message) => {
    damage();
    expect(await restore()).toMatchObject({ code: 1, err: expect.stringContaining(message) });
  });

  it('refuses a directory with data, and completes a restore that was cut off', async () => {
    cpSync(join(backup, 'data'), restored, { recursive: true });
    expect(await restore()).toMatchObject({ code: 1, err: expect.stringContaining('is not empty') });
    writeFileSync(join(restored, 'restore-unfinished'), '');
    const list = await command(restored, 'keys', 'list');
    expect(list).toMatchObject({ code: 1, err: expect.stringContaining('run signalbox restore again') });
    expect((await restore()).code).toBe(0);
    expect(existsSync(join(restored, 'restore-unfinished'))).toBe(false);
  });
});
