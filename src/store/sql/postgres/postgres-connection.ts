import type { Socket } from 'node:net';
import type { PostgresPoolClient, PostgresQueryResult } from 'kysely';
import postgres from 'postgres';
import type { DatabaseAddress } from '../../../kit/net/database-address.ts';
import { DatabaseUnavailable, databaseProblemOf, isAnswer } from '../database-unavailable.ts';
import { connectSocket } from './postgres-socket.ts';

/** How long a database may take, milliseconds. */
export interface PostgresTimes {
  /** Time to let us in. */
  readonly connectMs: number;
  /** Time to answer one statement. */
  readonly statementMs: number;
}

/** The server gives up so much earlier than we do, which keeps the connection usable. Milliseconds. */
const SERVER_AHEAD_MS = 500;

/** How long the server keeps an idle transaction open, milliseconds. */
const IDLE_TRANSACTION_MS = 10_000;

type Settings = postgres.Options<Record<string, postgres.PostgresType>>;

/**
 * One connection, as Kysely asks of it. Once it is lost, or a statement got no answer in time, it is never used again:
 * a statement that was to be part of a transaction must not be run outside of it.
 */
export class PostgresConnection implements PostgresPoolClient {
  readonly #client: postgres.Sql;
  readonly #times: PostgresTimes;
  readonly #letGo: (connection: PostgresConnection) => void;
  #socket: Socket | undefined;
  #isBroken = false;
  #isSilent = false;

  /**
   * Connects with its first statement. Calls `letGo` when its user releases it, and `notified` for each notification
   * that the session listens for.
   */
  constructor(
    address: DatabaseAddress,
    times: PostgresTimes,
    letGo: (connection: PostgresConnection) => void,
    notified?: () => void,
  ) {
    this.#times = times;
    this.#letGo = letGo;
    this.#client = postgres({
      ...settingsOf(address, times),
      socket: () => this.#connect(address),
      onclose: () => {
        this.#isBroken = true;
      },
      ...(notified !== undefined && { onnotify: () => notified() }),
    } as Settings);
  }

  /** It was lost, or cannot be trusted any more. */
  get isBroken(): boolean {
    return this.#isBroken;
  }

  /** It was given up because nothing came in time. */
  get isSilent(): boolean {
    return this.#isSilent;
  }

  query<R>(statement: string, parameters: readonly unknown[]): Promise<PostgresQueryResult<R>>;
  query<R>(cursor: unknown): R;
  async query<R>(statement: unknown, parameters: readonly unknown[] = []): Promise<PostgresQueryResult<R>> {
    if (this.#isBroken) throw new DatabaseUnavailable();
    try {
      const asked = this.#client.unsafe<postgres.Row[]>(String(statement), [...parameters] as string[], {
        prepare: true,
      });
      const result = await this.#inTime(asked, this.#limitMs);
      return {
        command: result.command as PostgresQueryResult<R>['command'],
        rowCount: result.count,
        rows: result as unknown as R[],
      };
    } catch (error) {
      if (!isAnswer(error)) this.close();
      throw withWritableStack(databaseProblemOf(error));
    }
  }

  /** Asks the database anything. Rejects with why it does not answer, at the latest after `limitMs`. */
  async ping(limitMs: number): Promise<void> {
    try {
      await this.#inTime(this.#client.unsafe('select 1'), limitMs);
    } catch (error) {
      this.close();
      throw databaseProblemOf(error);
    }
  }

  release(): void {
    this.#letGo(this);
  }

  /** Closes it at once, whatever is under way. */
  close(): void {
    this.#isBroken = true;
    // The driver only sends a farewell message, which a stopped server does not read.
    this.#client.end({ timeout: 0 }).catch(() => {});
    this.#socket?.destroy();
  }

  async #connect(address: DatabaseAddress): Promise<Socket> {
    const socket = await connectSocket(address, this.#times.connectMs);
    if (this.#isBroken) {
      socket.destroy();
      throw new DatabaseUnavailable();
    }
    this.#socket = socket;
    return socket;
  }

  /** How long the next statement may take, milliseconds. The first one connects. */
  get #limitMs(): number {
    const { connectMs, statementMs } = this.#times;
    return this.#socket?.readyState === 'open' ? statementMs : connectMs + statementMs;
  }

  async #inTime<T>(asked: PromiseLike<T>, limitMs: number): Promise<T> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        this.#isSilent = true;
        reject(Object.assign(new Error(`no answer within ${limitMs} ms`), { code: 'ETIMEDOUT' }));
      }, limitMs);
    });
    try {
      return await Promise.race([asked, late]);
    } finally {
      clearTimeout(timer);
    }
  }
}

function settingsOf(address: DatabaseAddress, { connectMs, statementMs }: PostgresTimes) {
  return {
    host: address.host,
    port: address.port,
    database: address.database,
    user: address.user,
    password: address.password ?? '',
    // The socket that it is given is encrypted already.
    ssl: false,
    max: 1,
    idle_timeout: 0,
    max_lifetime: null,
    connect_timeout: connectMs / 1000,
    fetch_types: false,
    connection: {
      application_name: 'signalbox',
      statement_timeout: Math.max(statementMs - SERVER_AHEAD_MS, 1),
      idle_in_transaction_session_timeout: IDLE_TRANSACTION_MS,
      // A journal drops what is booked, so a commit must be on disk before it is answered, whatever the server's
      // default.
      synchronous_commit: 'on',
    },
    onnotice: () => {},
  };
}

/**
 * Lets the stack of an error be written to, as Kysely does with what a driver throws. That of the driver's errors
 * cannot be since Node 22, where it is an accessor that the driver replaces: Kysely would throw an error of its own,
 * which does not show that the transaction is to be tried again.
 */
export function withWritableStack(error: unknown): unknown {
  const stack = error instanceof Error ? Object.getOwnPropertyDescriptor(error, 'stack') : undefined;
  if (stack?.writable === false) Object.defineProperty(error, 'stack', { writable: true });
  return error;
}
