import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import postgres from 'postgres';

/** Where the programs of PostgreSQL are, and the user that runs them. */
export interface PostgresPrograms {
  readonly directory: string;
  readonly user: User;
}

interface User {
  readonly uid?: number;
  readonly gid?: number;
}

/** A server of our own, which listens on a socket in a directory. */
export interface PostgresProcess {
  /** Starts it, also after it has ended. */
  start(): Promise<void>;
  /** Ends it in order: all connections are closed. */
  stop(): Promise<void>;
  /** Sends a signal to all of its processes. */
  signal(name: NodeJS.Signals): void;
  /** Resolves when it has ended. */
  exited(): Promise<void>;
}

const PORT = 5432;
const READY_MS = 10_000;

/** Speed instead of safety: these databases are lost with the test anyway. */
const SETTINGS = ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off', 'listen_addresses='];

/** Finds the programs. Throws an error if there are none, or no user to run them as. */
export function findPostgres(): PostgresPrograms {
  return { directory: binariesDirectory(), user: unprivileged() };
}

/** A server for the cluster of databases in `data`, with its socket in `directory`. */
export function postgresProcess(
  programs: PostgresPrograms,
  { data, directory }: { readonly data: string; readonly directory: string },
): PostgresProcess {
  let child: ChildProcess | undefined;
  const exited = () =>
    new Promise<void>((resolve) => {
      if (child === undefined || child.exitCode !== null || child.signalCode !== null) resolve();
      else child.once('exit', () => resolve());
    });
  return {
    async start() {
      const settings = SETTINGS.flatMap((setting) => ['-c', setting]);
      child = spawn(join(programs.directory, 'postgres'), ['-D', data, '-k', directory, ...settings], {
        ...programs.user,
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      let log = '';
      child.stderr?.on('data', (piece: Buffer) => {
        log = `${log}${piece}`.slice(-2000);
      });
      await ready(directory, () => (child?.exitCode === null ? undefined : log));
    },
    async stop() {
      if (child?.pid !== undefined) trySignal(child.pid, 'SIGINT');
      await exited();
    },
    signal(name) {
      if (child?.pid === undefined) return;
      for (const pid of [child.pid, ...childrenOf(child.pid)]) trySignal(pid, name);
    },
    exited,
  };
}

/** The DATABASE_URL of a database of the server in `directory`. */
export function databaseUrl(directory: string, name: string): string {
  return `postgres://tester@localhost:${PORT}/${name}?host=${directory}`;
}

/** Runs a statement as the owner of the server. */
export async function administrate(directory: string, database: string, statement: string): Promise<void> {
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
