import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import Database from 'libsql';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { openInstallation } from '../../../src/app/installation.ts';
import { MIGRATIONS } from '../../../src/store/sql/migrations/all.ts';
import { withPostgres } from '../../../src/store/sql/postgres/open-postgres.ts';
import { makeDataDirectory, temporaryDirectory } from '../../adapters/contracts/temporary-directory.ts';
import { holdDirectory, typed } from '../../kit/program.ts';
import { addressOf, postgresForTests } from '../../kit/servers/postgres-server.ts';

const server = await postgresForTests();

let temporary: ReturnType<typeof temporaryDirectory>;
let dataDir: string;

beforeEach(() => {
  temporary = temporaryDirectory();
  dataDir = join(temporary.path, 'data');
});

afterEach(() => {
  vi.unstubAllEnvs();
  temporary.remove();
});

const migrate = async (...flags: string[]) => {
  const { code, out, err } = await typed(['migrate', '--data-dir', dataDir, '--json', ...flags]);
  return { code, err, view: out === '' ? undefined : JSON.parse(out) };
};

const shown = (...flags: string[]) => typed(['migrate', '--data-dir', dataDir, ...flags]);

const namesFor = (engine: 'sqlite' | 'postgres') =>
  MIGRATIONS.filter((migration) => (migration.engine ?? engine) === engine).map(({ name }) => name);

describe('signalbox migrate, with the embedded database', () => {
  const change = (statement: string) => {
    const database = new Database(join(dataDir, 'signalbox.sqlite'));
    database.exec(statement);
    database.close();
  };

  it('refuses a directory in which no gateway has kept data', async () => {
    for (const flags of [[], ['--check']]) {
      expect(await migrate(...flags)).toMatchObject({
        code: 1,
        err: expect.stringContaining(`no gateway has kept data in ${dataDir}`),
      });
    }
    expect(existsSync(dataDir)).toBe(false);
  });

  it('shows what is to be done, does it, and then has nothing to do', async () => {
    makeDataDirectory(dataDir);
    const all = namesFor('sqlite');
    expect(await migrate('--check')).toMatchObject({ code: 3, view: { up_to_date: false, missing: all } });
    expect(existsSync(join(dataDir, 'signalbox.sqlite'))).toBe(false);
    expect(await migrate()).toMatchObject({ code: 0, view: { up_to_date: true, applied: all, missing: [] } });
    expect(await migrate('--check')).toMatchObject({ code: 0, view: { up_to_date: true, missing: [] } });
    expect(await shown()).toMatchObject({
      code: 0,
      out: expect.stringMatching(/signalbox\.sqlite is up to date\.\n$/),
    });
  });

  it('names the migrations of a newer release, and refuses to work beside one that it is too old for', async () => {
    makeDataDirectory(dataDir);
    await migrate();
    change("insert into schema_migrations values ('9999-later', 1)");
    expect(await migrate('--check')).toMatchObject({
      code: 0,
      view: { up_to_date: true, newer: ['9999-later'] },
    });
    change("insert into schema_requirements values ('9999-later', '9998-before')");
    expect(await migrate('--check')).toMatchObject({ code: 3, view: { up_to_date: false } });
    expect(await migrate()).toMatchObject({ code: 1, err: expect.stringContaining('9998-before') });
  });

  it('refuses what a version before the first release has left, and says what to do', async () => {
    makeDataDirectory(dataDir);
    await migrate();
    change("update schema_migrations set name = '0001-tenancy' where name = '0001-first'");
    const refused = /made by a version before 0\.1\.0.*start with a new data directory/;
    for (const flags of [[], ['--check']]) {
      expect(await migrate(...flags)).toMatchObject({ code: 1, err: expect.stringMatching(refused) });
    }
    await expect(openInstallation({ dataDir, keyPrefix: 'sk-' })).rejects.toThrow(refused);
    expect(await typed(['doctor', '--data-dir', dataDir])).toMatchObject({
      out: expect.stringMatching(/made by a version before 0\.1\.0/),
    });
  });

  it('looks beside a running gateway, and changes nothing there', async () => {
    makeDataDirectory(dataDir);
    await migrate();
    const gateway = await holdDirectory(dataDir, true);
    try {
      expect(await migrate('--check')).toMatchObject({ code: 0 });
      change("delete from schema_migrations where name = '0001-first'");
      expect(await migrate('--check')).toMatchObject({ code: 3, view: { missing: ['0001-first'] } });
      expect(await migrate()).toMatchObject({ code: 1, err: expect.stringContaining('in use') });
    } finally {
      gateway.kill('SIGKILL');
    }
  });

  it('is needed before a start with DATABASE_MIGRATE=false', async () => {
    const open = () => openInstallation({ dataDir, keyPrefix: 'sk-', mayMigrate: false });
    const names = namesFor('sqlite');
    await expect(open()).rejects.toThrow(
      new RegExp(`lacks ${names.length} migrations \\(${names.join(', ')}\\).*run signalbox migrate first`),
    );
    vi.stubEnv('DATABASE_MIGRATE', 'false');
    expect(await typed(['keys', 'list', '--data-dir', dataDir])).toMatchObject({
      code: 1,
      err: expect.stringContaining('run signalbox migrate first'),
    });
    expect(await migrate()).toMatchObject({ code: 0 });
    await (await open()).close();
  });

  it('refuses another value of DATABASE_MIGRATE', async () => {
    vi.stubEnv('DATABASE_MIGRATE', 'perhaps');
    expect(await typed(['check-config', '--data-dir', dataDir])).toMatchObject({
      code: 1,
      err: expect.stringContaining('DATABASE_MIGRATE: must be true or false'),
    });
  });
});

if (server !== undefined) {
  describe('signalbox migrate, with PostgreSQL', () => {
    it('shows what is to be done, does it once, and leaves the data directory alone', async () => {
      const url = await server.createDatabase();
      vi.stubEnv('DATABASE_URL', url);
      await withPostgres(addressOf(url), (database) =>
        sql`drop schema public cascade; create schema public`.execute(database),
      );
      const all = namesFor('postgres');
      expect(await migrate('--check')).toMatchObject({ code: 3, view: { missing: all } });
      const open = (mayMigrate: boolean) =>
        openInstallation({
          dataDir,
          keyPrefix: 'sk-',
          mayMigrate,
          database: {
            address: addressOf(url),
            waitsForDatabase: true,
            isGateway: false,
            retentionMs: () => 86_400_000,
          },
        });
      await expect(open(false)).rejects.toThrow('run signalbox migrate first');
      expect(await migrate('--check')).toMatchObject({ code: 3, view: { missing: all } });
      const both = await Promise.all([migrate(), migrate()]);
      for (const { code, view } of both) {
        expect({ code, view }).toMatchObject({ code: 0, view: { up_to_date: true } });
        expect(view.database).not.toContain('tester');
      }
      expect(await migrate('--check')).toMatchObject({ code: 0, view: { missing: [], newer: [] } });
      await (await open(false)).close();
    });

    it('says which database does not answer', async () => {
      vi.stubEnv('DATABASE_URL', 'postgres://someone:secret@127.0.0.1:1/books');
      const { code, err } = await migrate('--check');
      expect({ code, err }).toMatchObject({ code: 1, err: expect.stringContaining('books at 127.0.0.1:1') });
      expect(err).not.toContain('secret');
    });
  });
}
