import { setTimeout as delay } from 'node:timers/promises';
import { Kysely, PostgresDialect, sql } from 'kysely';
import type { DatabaseAddress } from '../../../kit/net/database-address.ts';
import type { SchemaState } from '../../../ports/installation/store-facts.ts';
import { DataDirectoryProblem } from '../../directory/data-directory-problem.ts';
import { awayCodeOf, codeOf, DatabaseUnavailable } from '../database-unavailable.ts';
import { migrate, readSchema } from '../migrate.ts';
import type { Tables } from '../tables.ts';
import { type PoolLimits, type PoolWatch, PostgresPool } from './postgres-pool.ts';

export interface PostgresOptions {
  readonly nowMs: number;
  /** Waits for a database that does not answer, and is called with each new reason; absent = opening fails then. */
  readonly waiting?: ((reason: string) => void) | undefined;
  readonly limits?: Partial<PoolLimits> | undefined;
  /** False: a schema that lacks something is refused instead of changed. */
  readonly mayMigrate?: boolean | undefined;
  /** Logs when the open database is lost, and when it is found again; absent = nothing does. */
  readonly warn?: ((message: string, fields?: Readonly<Record<string, unknown>>) => void) | undefined;
}

/** An open PostgreSQL database with all migrations applied. */
export interface OpenedPostgres {
  /** For requests: statements have short time limits. */
  readonly database: Kysely<Tables>;
  /** For background work: statements may take minutes. */
  readonly background: Kysely<Tables>;
  /** Whether the last statement was answered. */
  readonly isUp: () => boolean;
  close(): Promise<void>;
}

const LIMITS: PoolLimits = { connections: 16, connectMs: 2000, statementMs: 4000 };
const BACKGROUND_LIMITS: PoolLimits = { connections: 2, connectMs: 5000, statementMs: 600_000 };

/** The connection that holds the gateway's id, and the one that listens for changes. */
const CONNECTIONS_OF_THEIR_OWN = 2;

/** Connections that a gateway may have open at the same time. */
export const CONNECTIONS_PER_GATEWAY =
  LIMITS.connections + BACKGROUND_LIMITS.connections + CONNECTIONS_OF_THEIR_OWN;

/** Time between attempts while the database does not answer, milliseconds. */
const RETRY_MS = 500;

/** Key of the advisory lock under which gateways apply migrations. */
const MIGRATION_LOCK = 7_305_618;

/**
 * Opens a database. Rejects with a DataDirectoryProblem when it cannot be used, or does not answer and `waiting` is
 * absent.
 */
export async function openPostgres(
  address: DatabaseAddress,
  options: PostgresOptions,
): Promise<OpenedPostgres> {
  const pool = new PostgresPool(address, { ...LIMITS, ...options.limits });
  const database = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
  const backgroundPool = new PostgresPool(address, BACKGROUND_LIMITS);
  const background = new Kysely<Tables>({ dialect: new PostgresDialect({ pool: backgroundPool }) });
  // The server ends a slow statement before we do, so silence means that packets are lost. On the connections of the
  // background, statements would wait for minutes.
  pool.silent = () => backgroundPool.drop();
  const close = async () => {
    await database.destroy();
    await background.destroy();
    // Kysely ends a pool only if it has used it.
    await Promise.all([pool.end(), backgroundPool.end()]);
  };
  try {
    await prepare(address, options, async () => {
      await pool.ping();
      const mayChange = options.mayMigrate ?? true;
      await migrate(background, options.nowMs, { engine: 'postgres', before: lockMigrations, mayChange });
    });
    if (options.warn !== undefined) pool.watch = poolWatch(address, options.warn);
    return { database, background, isUp: () => pool.isUp, close };
  } catch (error) {
    await close();
    throw error;
  }
}

const EXAMINER_LIMITS: PoolLimits = { connections: 1, connectMs: 3000, statementMs: 5000 };

/** Runs work on a database without migrating it. Rejects with a DataDirectoryProblem when it cannot be used. */
export async function withPostgres<Result>(
  address: DatabaseAddress,
  work: (database: Kysely<Tables>) => Promise<Result>,
): Promise<Result> {
  const pool = new PostgresPool(address, EXAMINER_LIMITS);
  const database = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
  try {
    await pool.ping();
    return await work(database);
  } catch (error) {
    throw error instanceof DatabaseUnavailable ? postgresProblem(address, error) : error;
  } finally {
    await database.destroy();
    // Kysely ends a pool only if it has used it.
    await pool.end();
  }
}

/** Compares the schema of a database with the migrations of this program. Rejects with a DataDirectoryProblem. */
export function readPostgresSchema(address: DatabaseAddress): Promise<SchemaState> {
  return withPostgres(address, (database) => readSchema(database, 'postgres'));
}

/** One line when the database is lost, one when it is found again. */
function poolWatch(address: DatabaseAddress, warn: NonNullable<PostgresOptions['warn']>): PoolWatch {
  const place = { host: `${address.host}:${address.port}`, database: address.database };
  return {
    lost: (reason) =>
      warn('the database does not answer; what needs it is refused or waits until it does', {
        ...place,
        errno: awayCodeOf(reason),
      }),
    found: (awayMs) => warn('the database answers again', { ...place, away_ms: Math.round(awayMs) }),
  };
}

async function lockMigrations(transaction: Kysely<Tables>): Promise<void> {
  await sql`select pg_advisory_xact_lock(${sql.lit(MIGRATION_LOCK)})`.execute(transaction);
}

/** Runs work as soon as the database answers. */
async function prepare(
  address: DatabaseAddress,
  { waiting }: PostgresOptions,
  work: () => Promise<void>,
): Promise<void> {
  let logged: string | undefined;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof DatabaseUnavailable)) throw error;
      const code = answerCodeOf(error);
      if (waiting === undefined || ADVICE[code] !== undefined) throw postgresProblem(address, error);
      if (logged !== code) waiting(`${problemText(address, code)}; waiting for it`);
      logged = code;
      await delay(RETRY_MS);
    }
  }
}

/** Why a database cannot be used, with its name and advice. */
export function postgresProblem(address: DatabaseAddress, error: DatabaseUnavailable): DataDirectoryProblem {
  const code = answerCodeOf(error);
  return new DataDirectoryProblem(
    `${problemText(address, code)}; ${ADVICE[code] ?? REACHABLE}`,
    false,
    error,
  );
}

function problemText(address: DatabaseAddress, code: string): string {
  return `the database ${databaseName(address)} cannot be used (${code})`;
}

function answerCodeOf({ cause }: DatabaseUnavailable): string {
  return (cause === undefined ? '' : codeOf(cause)) || 'no answer';
}

const REACHABLE = 'see that it runs and that DATABASE_URL leads to it';

/** Advice for codes that waiting does not cure. */
const ADVICE: Readonly<Record<string, string>> = {
  '28P01': 'DATABASE_URL has a wrong user or password',
  '28000': 'its server does not let this user in; see DATABASE_URL and the rules of the server',
  '3D000': 'make it first, or name another one in DATABASE_URL',
  NO_TLS: 'its server offers no TLS, which sslmode in DATABASE_URL asks for',
  UNTRUSTED: 'its certificate is not trusted for this host; see sslmode in DATABASE_URL',
};

/** A database's name in messages, without user and password. */
export function databaseName({ host, port, database }: DatabaseAddress): string {
  return `${database} at ${host}:${port}`;
}
