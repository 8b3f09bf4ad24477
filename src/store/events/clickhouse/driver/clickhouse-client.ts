import { runInTurns } from '../../../../kit/loop/turns.ts';
import type { ClickhouseAddress } from '../../../../kit/net/clickhouse-address.ts';
import type { ServiceClient, ServiceReply } from '../../../../kit/net/service-client.ts';
import { rowsOf, type TextRow } from './tab-separated.ts';

/** The server refused a statement. Its message may repeat parts of the statement, never the password. */
export class ClickhouseProblem extends Error {
  /** `CLICKHOUSE_` and the server's number of the error; 0 without one. */
  readonly code: string;
  readonly number: number;

  constructor(number: number, message: string) {
    super(message);
    this.name = 'ClickhouseProblem';
    this.number = number;
    this.code = `CLICKHOUSE_${number}`;
  }
}

/** How long statements may take, milliseconds. A gateway that stops waits for an insert that has begun. */
const QUERY_MS = 30_000;
const INSERT_MS = 10_000;
const RUN_MS = 30_000;

/** For small statements that find out whether the server answers, milliseconds. */
export const SMALL_MS = 3_000;

/** Bytes of a reply: more than the largest answer of analytics has, 10,000 rows. */
const MAX_REPLY_BYTES = 32 * 1024 * 1024;

/** Bytes of a statement: long lists of ids. The default of servers is 256 KiB. */
const MAX_STATEMENT_BYTES = 1024 * 1024;

/** Characters of an error that are kept for the log. */
const MAX_MESSAGE_CHARACTERS = 300;

/** Statements over the HTTP interface of a ClickHouse server. Rejects with ClickhouseProblem or ServiceUnreachable. */
export class ClickhouseClient {
  readonly #service: ServiceClient;
  readonly #database: string;
  readonly #headers: Readonly<Record<string, string>>;

  constructor(service: ServiceClient, { database, user, password }: ClickhouseAddress) {
    this.#service = service;
    this.#database = database;
    const credential = Buffer.from(`${user ?? 'default'}:${password ?? ''}`).toString('base64');
    this.#headers = { authorization: `Basic ${credential}`, 'content-type': 'text/plain; charset=utf-8' };
  }

  get database(): string {
    return this.#database;
  }

  /** The rows of a SELECT. Old servers go on working on it after an abort, at most for `QUERY_MS`. */
  async query(
    sql: string,
    signal?: AbortSignal,
    totalMs = QUERY_MS,
    database = this.#database,
  ): Promise<TextRow[]> {
    const settings = {
      ...(database !== '' && { database }),
      // Errors after the first row then come as a status instead of a text among the rows.
      wait_end_of_query: '1',
      max_query_size: String(MAX_STATEMENT_BYTES),
      max_execution_time: String(totalMs / 1_000),
      readonly: '2',
    };
    const reply = await this.#post(settings, `${sql} FORMAT TabSeparated`, totalMs, signal);
    return runInTurns(rowsOf(reply.bytes.toString()));
  }

  /** Version of the server. Needs no database. */
  async serverVersion(): Promise<string> {
    const [row] = await this.query('SELECT version()', undefined, SMALL_MS, '');
    return row?.[0] ?? '';
  }

  /** Runs a statement that returns nothing. An empty database is that of the user. */
  async run(sql: string, database = this.#database): Promise<void> {
    const settings = {
      ...(database !== '' && { database }),
      max_query_size: String(MAX_STATEMENT_BYTES),
    };
    await this.#post(settings, sql, RUN_MS);
  }

  /** Inserts lines in the format TabSeparated. Those of one partition are inserted all or none. */
  async insert(table: string, columns: readonly string[], lines: string): Promise<void> {
    const query = `INSERT INTO ${table} (${columns.join(', ')}) FORMAT TabSeparated`;
    await this.#post({ database: this.#database, query }, lines, INSERT_MS);
  }

  close(): void {
    this.#service.close();
  }

  async #post(
    parameters: Readonly<Record<string, string>>,
    body: string,
    totalMs: number,
    signal?: AbortSignal,
  ): Promise<ServiceReply> {
    const reply = await this.#service.call({
      method: 'POST',
      path: `/?${new URLSearchParams(parameters)}`,
      headers: this.#headers,
      body,
      totalMs,
      maxBytes: MAX_REPLY_BYTES,
      signal,
    });
    if (reply.status !== 200) throw problemOf(reply);
    return reply;
  }
}

function problemOf({ status, bytes }: ServiceReply): ClickhouseProblem {
  const text = bytes.toString('utf8', 0, MAX_MESSAGE_CHARACTERS).trim();
  const number = Number(/Code: (\d+)/.exec(text)?.[1] ?? 0);
  return new ClickhouseProblem(number, `ClickHouse answered with status ${status}: ${text}`);
}
