import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import postgres from 'postgres';
import { afterAll, it } from 'vitest';
import { type DatabaseAddress, parseDatabaseAddress } from '../../src/kit/net/database-address.ts';
import { openPostgres } from '../../src/store/sql/postgres/open-postgres.ts';

/** A server of our own, on a socket in a temporary directory, that lives until it is stopped or this process ends. */
export interface PostgresServer {
  /** Makes a new database with all tables and gives its DATABASE_URL. */
  createDatabase(): Promise<string>;
  /** Gives the same database each time, emptied: quicker than a new one. */
  emptyDatabase(): Promise<string>;
  /** Starts it again after `kill` or `stop`. */
  start(): Promise<void>;
  /** Ends it in order: all connections are closed. */
  stop(): Promise<void>;
  /** Kills all of its processes with SIGKILL. */
  kill(): Promise<void>;
  /** Stops all of its processes (SIGSTOP) until `resume`. */
  pause(): void;
  resume(): void;
  /** Ends it and removes what it has written. */
  remove(): Promise<void>;
}

const PORT = 5432;
const READY_MS = 10_000;

/** Speed instead of safety: these databases are lost with the test anyway. */
const SETTINGS = ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off', 'listen_addresses='];

/** Deleting is quicker than truncating where there is hardly anything. */
const EMPTY_TABLES = `
  do $$ declare name text; begin
    set session_replication_role = replica;
    for name in select tablename from pg_tables where schemaname = 'public' and tablename <> 'schema_migrations' loop
      execute format('delete from %I', name);
    end loop;
  end $$`;

/**
 * A server for the tests of one file. Without one, a skipped test and a line of output have the reason.
 */
export async function postgresForTests(): Promise<PostgresServer | undefined> {
  const started = await startPostgres().catch((error: Error) => error.message);
  if (typeof started === 'string') {
    it('has a PostgreSQL to be tested on', ({ skip }) => skip(`PostgreSQL is not tested: ${started}`));
    process.stderr.write(`PostgreSQL is not tested: ${started}\n`);
    return undefined;
  }
  afterAll(() => started.remove());
  return started;
}

/** The address behind a DATABASE_URL. */
export function addressOf(url: string): DatabaseAddress {
  const reading = parseDatabaseAddress(url);
  if (!reading.ok) throw new Error(reading.problem);
  return reading.address;
}

async function startPostgres(): Promise<PostgresServer> {
  const binaries = binariesDirectory();
  const user = unprivileged();
  const directory = mkdtempSync(join(tmpdir(), 'signalbox-postgres-'));
  if (user.uid !== undefined) chownSync(directory, user.uid, user.gid ?? user.uid);
  const data = join(directory, 'data');
  const remove = () => rmSync(directory, { recursive: true, force: true });
  const made = initialize(binaries, data, user);
  if (made !== undefined) {
    remove();
    throw new Error(`initdb failed: ${made}`);
  }
  let child: ChildProcess | undefined;
  const exited = () =>
    new Promise<void>((resolve) => {
      if (child === undefined || child.exitCode !== null || child.signalCode !== null) resolve();
      else child.once('exit', () => resolve());
    });
  const processes = () => (child?.pid === undefined ? [] : [child.pid, ...childrenOf(child.pid)]);
  const signal = (name: NodeJS.Signals) => {
    for (const pid of processes()) trySignal(pid, name);
  };
  const atExit = () => signal('SIGKILL');
  process.once('exit', atExit);
  const start = async () => {
    const settings = SETTINGS.flatMap((setting) => ['-c', setting]);
    child = spawn(join(binaries, 'postgres'), ['-D', data, '-k', directory, ...settings], {
      ...user,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let log = '';
    child.stderr?.on('data', (piece: Buffer) => {
      log = `${log}${piece}`.slice(-2000);
    });
    await ready(directory, () => (child?.exitCode === null ? undefined : log));
  };
  const stop = async () => {
    if (child?.pid !== undefined) trySignal(child.pid, 'SIGINT');
    await exited();
  };
  await start();
  const urlOf = (name: string) => `postgres://tester@localhost:${PORT}/${name}?host=${directory}`;
  const template = await openPostgres(addressOf(urlOf('postgres')), { nowMs: 1 });
  await template.close();
  let databases = 0;
  let emptied: string | undefined;
  const createDatabase = async () => {
    databases += 1;
    const name = `test_${databases}`;
    await administrate(directory, 'template1', `create database ${name} template postgres`);
    return name;
  };
  return {
    createDatabase: async () => urlOf(await createDatabase()),
    async emptyDatabase() {
      emptied ??= await createDatabase();
      await administrate(directory, emptied, EMPTY_TABLES);
      return urlOf(emptied);
    },
    start,
    stop,
    async kill() {
      signal('SIGKILL');
      await exited();
    },
    pause: () => signal('SIGSTOP'),
    resume: () => signal('SIGCONT'),
    async remove() {
      signal('SIGCONT');
      await stop();
      process.off('exit', atExit);
      remove();
    },
  };
}

function binariesDirectory(): string {
  const debian = '/usr/lib/postgresql';
  const versions = existsSync(debian)
    ? readdirSync(debian).sort((one, other) => Number(other) - Number(one))
    : [];
  const places = [
    ...(process.env.PATH ?? '').split(delimiter),
    ...versions.map((version) => join(debian, version, 'bin')),
  ];
  const found = places.find((place) => ['initdb', 'postgres'].every((name) => existsSync(join(place, name))));
  if (found === undefined) throw new Error(`initdb and postgres are neither in PATH nor below ${debian}`);
  return found;
}

interface User {
  readonly uid?: number;
  readonly gid?: number;
}

/** PostgreSQL refuses to run as root. */
function unprivileged(): User {
  if (process.getuid?.() !== 0) return {};
  const users = readFileSync('/etc/passwd', 'utf8').split('\n');
  for (const name of ['postgres', 'nobody']) {
    const [, , uid, gid] = users.find((line) => line.startsWith(`${name}:`))?.split(':') ?? [];
    if (uid !== undefined) return { uid: Number(uid), gid: Number(gid) };
  }
  throw new Error('this is root, and there is neither a user postgres nor nobody to run it as');
}

/** Undefined when it went well. The order of letters is not that of bytes, as in most databases of the world. */
function initialize(binaries: string, data: string, user: User): string | undefined {
  const common = ['-D', data, '-U', 'tester', '-A', 'trust', '-E', 'UTF8', '--no-sync', '--no-instructions'];
  const icu = ['--locale=C.UTF-8', '--locale-provider=icu', '--icu-locale=en-US'];
  for (const locale of [icu, ['--locale=C']]) {
    const { status, stderr } = spawnSync(join(binaries, 'initdb'), [...common, ...locale], {
      ...user,
      encoding: 'utf8',
    });
    if (status === 0) return undefined;
    if (locale !== icu) return stderr;
  }
  return undefined;
}

async function ready(directory: string, ended: () => string | undefined): Promise<void> {
  const until = Date.now() + READY_MS;
  for (;;) {
    const log = ended();
    if (log !== undefined) throw new Error(`postgres ended: ${log}`);
    try {
      return await administrate(directory, 'postgres', 'select 1');
    } catch (error) {
      if (Date.now() > until) throw error;
      await sleep(20);
    }
  }
}

async function administrate(directory: string, database: string, statement: string): Promise<void> {
  const client = postgres({
    path: `${directory}/.s.PGSQL.${PORT}`,
    user: 'tester',
    database,
    max: 1,
    fetch_types: false,
    onnotice: () => {},
  } as postgres.Options<Record<string, never>>);
  try {
    await client.unsafe(statement);
  } finally {
    await client.end({ timeout: 1 });
  }
}

function childrenOf(parent: number): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => parentOf(pid) === parent);
}

function parentOf(pid: number): number | undefined {
  try {
    const status = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return Number(status.slice(status.lastIndexOf(')') + 2).split(' ')[1]);
  } catch {
    return undefined;
  }
}

function trySignal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // Gone already.
  }
}
