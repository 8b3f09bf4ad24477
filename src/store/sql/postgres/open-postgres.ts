import { setTimeout as delay } from 'node:timers/promises';
import { Kysely, PostgresDialect, sql } from 'kysely';
import type { DatabaseAddress } from '../../../kit/net/database-address.ts';
import { DataDirectoryProblem } from '../../directory/data-directory-problem.ts';
import { codeOf, DatabaseUnavailable } from '../database-unavailable.ts';
import { migrate } from '../migrate.ts';
import { type PoolLimits, PostgresPool } from '../postgres-pool.ts';
import type { Tables } from '../tables.ts';

/** What to do with a database that does not answer when it is opened. */
export interface PostgresOptions {
  readonly nowMs: number;
  /** Is told why it waits, each time another reason appears. Without it nobody waits. */
  readonly waiting?: (reason: string) => void;
  readonly limits?: Partial<PoolLimits>;
}

/** A PostgreSQL database, brought to its newest shape. */
export interface OpenedPostgres {
  /** For requests: who gets no answer soon is refused. */
  readonly database: Kysely<Tables>;
  /** For work that nobody waits for: statements may take minutes. */
  readonly patient: Kysely<Tables>;
  /** The database answered when it was asked last. */
  readonly isUp: () => boolean;
  close(): Promise<void>;
}

const LIMITS: PoolLimits = { connections: 16, connectMs: 2000, statementMs: 4000 };
const PATIENT_LIMITS: PoolLimits = { connections: 2, connectMs: 5000, statementMs: 600_000 };

/** How often a database that is away is asked again, milliseconds. */
const RETRY_MS = 500;

/** Gateways that start at once take turns to bring the database to its newest shape: they agree on this number. */
const MIGRATION_LOCK = 7_305_618;

/** Opens a database. Rejects with a DataDirectoryProblem when that makes no sense, or nobody waits for it. */
export async function openPostgres(
  address: DatabaseAddress,
  options: PostgresOptions,
): Promise<OpenedPostgres> {
  const pool = new PostgresPool(address, { ...LIMITS, ...options.limits });
  const database = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
  const patientPool = new PostgresPool(address, PATIENT_LIMITS);
  const patient = new Kysely<Tables>({ dialect: new PostgresDialect({ pool: patientPool }) });
  const close = async () => {
    await database.destroy();
    await patient.destroy();
    // Kysely ends only a pool that it has used.
    await Promise.all([pool.end(), patientPool.end()]);
  };
  try {
    await prepare(address, options, async () => {
      await pool.ping();
      await migrate(patient, options.nowMs, { engine: 'postgres', before: lockMigrations });
    });
    return { database, patient, isUp: () => pool.isUp, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function lockMigrations(transaction: Kysely<Tables>): Promise<void> {
  await sql`select pg_advisory_xact_lock(${sql.lit(MIGRATION_LOCK)})`.execute(transaction);
}

/** Does something with the database as soon as it is there. */
async function prepare(
  address: DatabaseAddress,
  { waiting }: PostgresOptions,
  work: () => Promise<void>,
): Promise<void> {
  let told: string | undefined;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof DatabaseUnavailable)) throw error;
      const code = answerCodeOf(error);
      if (waiting === undefined || ADVICE[code] !== undefined) throw postgresProblem(address, error);
      if (told !== code) waiting(`${problemText(address, code)}; waiting for it`);
      told = code;
      await delay(RETRY_MS);
    }
  }
}

/** Why a database cannot be used, in words that name it and say what to do. */
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

/** What no waiting helps against. */
const ADVICE: Readonly<Record<string, string>> = {
  '28P01': 'DATABASE_URL has a wrong password',
  '28000': 'its server does not let this user in; see DATABASE_URL and the rules of the server',
  '3D000': 'make it first, or name another one in DATABASE_URL',
  NO_TLS: 'its server offers no TLS, which sslmode in DATABASE_URL asks for',
  UNTRUSTED: 'its certificate is not trusted for this host; see sslmode in DATABASE_URL',
};

/** How messages name a database: without who asks. */
export function databaseName({ host, port, database }: DatabaseAddress): string {
  return `${database} at ${host}:${port}`;
}
