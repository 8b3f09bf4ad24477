import { chownSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, it } from 'vitest';
import { memoryDirectory } from '../memory-directory.ts';
import { administrate, databaseUrl, findPostgres, postgresProcess } from './postgres-process.ts';
import { copyTemplate } from './postgres-template.ts';

export { addressOf } from './address-of.ts';

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

async function startPostgres(): Promise<PostgresServer> {
  const programs = findPostgres();
  const { uid, gid } = programs.user;
  const directory = mkdtempSync(join(memoryDirectory(), 'signalbox-postgres-'));
  if (uid !== undefined) chownSync(directory, uid, gid ?? uid);
  const data = join(directory, 'data');
  const server = postgresProcess(programs, { data, directory });
  const atExit = () => server.signal('SIGKILL');
  process.once('exit', atExit);
  const remove = async () => {
    server.signal('SIGCONT');
    await server.stop();
    process.off('exit', atExit);
    rmSync(directory, { recursive: true, force: true });
  };
  try {
    await copyTemplate(programs, data);
    await server.start();
  } catch (error) {
    await remove();
    throw error;
  }
  let databases = 0;
  let emptied: string | undefined;
  const createDatabase = async () => {
    databases += 1;
    const name = `test_${databases}`;
    await administrate(directory, 'template1', `create database ${name} template postgres`);
    return name;
  };
  return {
    createDatabase: async () => databaseUrl(directory, await createDatabase()),
    async emptyDatabase() {
      emptied ??= await createDatabase();
      await administrate(directory, emptied, EMPTY_TABLES);
      return databaseUrl(directory, emptied);
    },
    start: () => server.start(),
    stop: () => server.stop(),
    async kill() {
      server.signal('SIGKILL');
      await server.exited();
    },
    pause: () => server.signal('SIGSTOP'),
    resume: () => server.signal('SIGCONT'),
    remove,
  };
}
