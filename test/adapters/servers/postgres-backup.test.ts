import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { run } from '../../../src/cli/run.ts';
import { openTestGateway, type TestGateway } from '../../kit/gateway-harness.ts';
import { postgresForTests } from '../../kit/servers/postgres-server.ts';
import { temporaryDirectory } from '../contracts/temporary-directory.ts';

const server = await postgresForTests();
const DUMP = 'pg_dump --format=custom';
const NOT_SET = 'with DATABASE_URL set to that of the gateway (it is not set here)';

let temporary: ReturnType<typeof temporaryDirectory>;
let gateway: TestGateway | undefined;

beforeEach(() => {
  temporary = temporaryDirectory();
  vi.stubEnv('DATABASE_URL', undefined);
});

afterEach(async () => {
  vi.unstubAllEnvs();
  await gateway?.close();
  gateway = undefined;
  temporary.remove();
});

/** Runs a command in this process, whose environment is not the gateway's. */
async function command(...words: readonly string[]) {
  let out = '';
  let err = '';
  const code = await run([...words], {
    out: (text) => {
      out += text;
    },
    err: (text) => {
      err += text;
    },
  });
  return { code: code ?? 0, out, err };
}

async function backUp({ dataDir, configFile }: TestGateway, name = 'backup') {
  const target = join(temporary.path, name);
  const ran = await command('backup', target, '--config', configFile, '--data-dir', dataDir);
  return { ...ran, has: (file: string) => existsSync(join(target, file)) };
}

if (server !== undefined) {
  describe('backup of a gateway on PostgreSQL, in a shell without DATABASE_URL', () => {
    beforeEach(async () => {
      gateway = await openTestGateway({}, { env: { DATABASE_URL: await server.createDatabase() } });
    });

    it('asks the running gateway, and says that the database has to be dumped', async () => {
      const { dataDir } = gateway as TestGateway;
      // Left from a time without PostgreSQL: the files alone do not tell.
      writeFileSync(join(dataDir, 'signalbox.sqlite'), '');
      const { code, out, err, has } = await backUp(gateway as TestGateway);
      expect({ code, err }).toEqual({ code: 0, err: '' });
      expect(out).toContain(DUMP);
      expect(out).toContain(NOT_SET);
      expect(out).not.toContain('The books in it are right');
      expect([has('data/hash-key'), has('data/gateway-id'), has('data/signalbox.sqlite')]).toEqual([
        true,
        false,
        false,
      ]);
    });

    it('restores a directory that refuses commands without DATABASE_URL', async () => {
      const { configFile } = gateway as TestGateway;
      await backUp(gateway as TestGateway);
      const restored = join(temporary.path, 'restored');
      const place = ['--config', configFile, '--data-dir', restored];
      vi.stubEnv('DATABASE_URL', await server.createDatabase());
      expect(await command('restore', join(temporary.path, 'backup'), ...place)).toMatchObject({ code: 0 });
      vi.stubEnv('DATABASE_URL', undefined);
      const refused = await command('keys', 'list', ...place);
      expect(refused).toMatchObject({ code: 1, out: '', err: expect.stringContaining('set DATABASE_URL') });
      expect(existsSync(join(restored, 'signalbox.sqlite'))).toBe(false);
    });

    it('answers while PostgreSQL is away', async () => {
      await server.stop();
      try {
        expect(await backUp(gateway as TestGateway)).toMatchObject({
          code: 0,
          out: expect.stringContaining(DUMP),
        });
      } finally {
        await server.start();
      }
    });

    it('looks at the files if no gateway runs, and refuses if they do not tell', async () => {
      const stopped = gateway as TestGateway;
      await stopped.drain(0);
      const told = await backUp(stopped);
      expect(told).toMatchObject({ code: 0, err: '', out: expect.stringContaining(NOT_SET) });
      expect(told.has('data/gateway-id')).toBe(false);
      writeFileSync(join(stopped.dataDir, 'signalbox.sqlite'), '');
      const refused = await backUp(stopped, 'refused');
      expect(refused).toMatchObject({ code: 1, out: '' });
      expect(refused.err).toContain(
        'set DATABASE_URL to its database and run the backup again, then pg_dump',
      );
      expect(refused.has('manifest.ndjson')).toBe(false);
      vi.stubEnv('DATABASE_URL', 'postgres://signalbox@127.0.0.1:9/signalbox');
      const chosen = await backUp(stopped, 'chosen');
      expect(chosen).toMatchObject({ code: 0, out: expect.stringContaining(DUMP) });
      expect(chosen.out).not.toContain(NOT_SET);
    });
  });
}

describe('backup of an embedded gateway, in a shell with DATABASE_URL', () => {
  it('has the database, whether the gateway runs or not', async () => {
    gateway = await openTestGateway();
    vi.stubEnv('DATABASE_URL', 'postgres://signalbox@127.0.0.1:9/signalbox');
    const running = await backUp(gateway, 'running');
    expect(running).toMatchObject({ code: 0, out: expect.stringContaining('The books in it are right') });
    expect(running.has('data/signalbox.sqlite')).toBe(true);
    await gateway.drain(0);
    const stopped = await backUp(gateway, 'stopped');
    expect(stopped).toMatchObject({ code: 0, out: expect.stringContaining('The books in it are right') });
    expect(stopped.has('data/signalbox.sqlite')).toBe(true);
  });
});
