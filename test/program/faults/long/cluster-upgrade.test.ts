import { spawnSync } from 'node:child_process';
import { mkdirSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { withPostgres } from '../../../../src/store/sql/postgres/open-postgres.ts';
import { temporaryDirectory } from '../../../adapters/contracts/temporary-directory.ts';
import { PROGRAM, signalbox } from '../../../kit/program.ts';
import { addressOf, postgresForTests } from '../../../kit/servers/postgres-server.ts';
import { type StartedProgram, startProgram, stopped } from '../../../kit/started-program.ts';

/** A commit before the first release. */
const BEFORE_RELEASES = '73a697ce';

const ROOT = dirname(dirname(dirname(PROGRAM)));
const MANAGEMENT_KEY = 'sk-sb-v1-management-key-of-the-upgrade';

/** For building the version before the first release. */
const BUILD_MS = 120_000;

/** A change must be known within a second; a busy machine gets more. */
const PATIENCE = { timeout: 20_000, interval: 50 };

const server = await postgresForTests();
const hasCommit =
  spawnSync('git', ['cat-file', '-e', `${BEFORE_RELEASES}^{commit}`], { cwd: ROOT }).status === 0;

describe.skipIf(server === undefined || !hasCommit)('gateways of several versions on one database', () => {
  let folder: ReturnType<typeof temporaryDirectory>;
  let temporary: ReturnType<typeof temporaryDirectory>;
  let before: string;
  let programs: StartedProgram[];
  let url: string;

  beforeAll(() => {
    folder = temporaryDirectory();
    const archive = join(folder.path, 'release.tar');
    const source = join(folder.path, 'release');
    mkdirSync(source);
    for (const [command, ...words] of [
      ['git', 'archive', '-o', archive, BEFORE_RELEASES],
      ['tar', '-xf', archive, '-C', source],
    ] as const) {
      expect(spawnSync(command, words, { cwd: ROOT }).status).toBe(0);
    }
    symlinkSync(join(ROOT, 'node_modules'), join(source, 'node_modules'));
    // Without `scripts/build.mjs`, which would install other versions of packages into the folder that both share.
    const build = "(await import('./scripts/toolchain.mjs')).buildIfNeeded()";
    const built = spawnSync(process.execPath, ['--input-type=module', '--eval', build], {
      cwd: source,
      encoding: 'utf8',
    });
    expect({ status: built.status, stderr: built.stderr }).toMatchObject({ status: 0 });
    before = join(source, 'dist', 'cli', 'signalbox.js');
  }, BUILD_MS);

  afterAll(() => folder?.remove());

  beforeEach(async () => {
    temporary = temporaryDirectory();
    programs = [];
    url = (await server?.createDatabase()) ?? '';
    await change('drop schema public cascade; create schema public');
  });

  afterEach(async () => {
    await Promise.all(programs.map(({ child }) => stopped(child, 'SIGKILL')));
    temporary.remove();
  });

  const change = (statement: string) =>
    withPostgres(addressOf(url), (database) => sql.raw(statement).execute(database));

  const environment = (name: string) => ({
    DATABASE_URL: url,
    SIGNALBOX_MANAGEMENT_KEY: MANAGEMENT_KEY,
    SIGNALBOX_ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
    SIGNALBOX_DATA_DIR: join(temporary.path, name),
  });

  const start = async (name: string, program = PROGRAM) => {
    const started = await startProgram(temporary.path, environment(name), [], program);
    programs.push(started);
    return started;
  };

  const request = (
    { url: base }: StartedProgram,
    path: string,
    { key = MANAGEMENT_KEY, method = 'GET', body }: { key?: string; method?: string; body?: object } = {},
  ) =>
    fetch(base + path, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });

  const makeKey = async (gateway: StartedProgram) => {
    const made = await request(gateway, '/keys', { method: 'POST', body: { name: 'n', limit: 1 } });
    const { key, data } = (await made.json()) as { key: string; data: { hash: string } };
    return { key, hash: data.hash };
  };

  const statusOf = async (gateway: StartedProgram, key: string) => {
    const body = { model: 'simulator/standard', input: 'hello' };
    const answer = await request(gateway, '/responses', { key, method: 'POST', body });
    await answer.arrayBuffer();
    return answer.status;
  };

  /** Both serve a key, and a change at either is seen by the other. */
  const workTogether = async (one: StartedProgram, other: StartedProgram) => {
    for (const [here, there] of [
      [one, other],
      [other, one],
    ] as const) {
      const { key, hash } = await makeKey(here);
      expect(await statusOf(here, key)).toBe(200);
      expect(await statusOf(there, key)).toBe(200);
      await request(here, `/keys/${hash}`, { method: 'PATCH', body: { disabled: true } });
      await expect.poll(() => statusOf(there, key), PATIENCE).toBe(401);
    }
  };

  it('of a release refuses the database of a version before the first one, and leaves it as it is', async () => {
    await stopped((await start('old', before)).child, 'SIGTERM');
    const refused = signalbox(temporary.path, ['serve', '--port', '0'], environment('fresh'));
    expect(refused).toMatchObject({
      code: 1,
      err: expect.stringContaining('made by a version before 0.1.0'),
    });
    const again = await start('old', before);
    expect(await statusOf(again, (await makeKey(again)).key)).toBe(200);
  });

  it('of this release starts and works after the next one has added to the schema, and lists what it added', async () => {
    const running = await start('running');
    await change(`
      alter table keys add column note text;
      create table of_the_next_release (id text primary key);
      insert into schema_migrations (name, applied_at_ms) values ('9999-next', 1)`);
    const restarted = await start('restarted');
    await workTogether(running, restarted);
    const checked = signalbox(temporary.path, ['migrate', '--check', '--json'], environment('running'));
    expect({ code: checked.code, ...JSON.parse(checked.out) }).toMatchObject({
      code: 0,
      newer: ['9999-next'],
    });
  });

  it('of this release refuses to start after a later one has removed what it uses', async () => {
    await stopped((await start('running')).child, 'SIGTERM');
    await change(
      "insert into schema_requirements (name, requires) values ('9999-removes', '9998-stops-using')",
    );
    const refused = signalbox(temporary.path, ['serve', '--port', '0'], environment('running'));
    expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('9998-stops-using') });
  });
});
