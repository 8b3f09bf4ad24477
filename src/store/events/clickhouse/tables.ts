import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { ColumnName } from '../columns.ts';
import { type ClickhouseClient, ClickhouseProblem } from './driver/clickhouse-client.ts';
import { wholeOf } from './driver/read-fields.ts';
import { fieldOf, literalOf } from './driver/tab-separated.ts';
import { addColumnSql, EVENT_COLUMNS, EVENTS, SCHEMA, SCHEMA_VERSION, STORES } from './schema.ts';

/** Gateways that start together may all identify new tables: after this time each sees what the others chose. */
const SETTLING_MS = 250;

/** Makes the database and its tables when they are first used, and identifies them. */
export class ClickhouseTables {
  readonly #client: ClickhouseClient;
  readonly #now: () => number;
  readonly #onFound: (id: string) => void;
  #ready: Promise<string> | undefined;

  constructor(client: ClickhouseClient, now: () => number, onFound: (id: string) => void) {
    this.#client = client;
    this.#now = now;
    this.#onFound = onFound;
  }

  /** Resolves with their id once the tables exist. */
  ready(): Promise<string> {
    this.#ready ??= this.#open().catch((error: unknown) => {
      this.#ready = undefined;
      throw error;
    });
    return this.#ready;
  }

  /** The tables are gone: they are created again with the next use. */
  forget(): void {
    this.#ready = undefined;
  }

  async #open(): Promise<string> {
    // Notices a server that hangs sooner than the statements below.
    await this.#client.serverVersion();
    const refusal = await this.#makeDatabase();
    try {
      for (const statement of SCHEMA) await this.#client.run(statement);
      for (const name of await this.#missingColumns()) await this.#addColumn(name);
    } catch (error) {
      throw refusal ?? error;
    }
    const found = (await this.#find()) ?? (await this.#identify());
    if (found.version > SCHEMA_VERSION) {
      throw new ClickhouseProblem(
        0,
        `the tables in the database ${this.#client.database} are of a later release; use that one`,
      );
    }
    this.#onFound(found.id);
    return found.id;
  }

  async #missingColumns(): Promise<ColumnName[]> {
    const { database } = this.#client;
    const rows = await this.#client.query(
      `SELECT name FROM system.columns WHERE database = ${literalOf(database)} AND table = '${EVENTS}'`,
    );
    const names = new Set(rows.map(([name]) => name));
    return EVENT_COLUMNS.filter((name) => !names.has(name));
  }

  async #addColumn(name: ColumnName): Promise<void> {
    try {
      await this.#client.run(addColumnSql(name));
    } catch (error) {
      // Another gateway that started at the same time has added it.
      if ((await this.#missingColumns()).includes(name)) throw error;
    }
  }

  /** A user who may not make databases may use one that exists. */
  async #makeDatabase(): Promise<ClickhouseProblem | undefined> {
    try {
      await this.#client.run(`CREATE DATABASE IF NOT EXISTS ${this.#client.database}`, '');
      return undefined;
    } catch (error) {
      if (error instanceof ClickhouseProblem) return error;
      throw error;
    }
  }

  /** The identity of the tables. If gateways gave several at the same moment, the first counts. */
  async #find(): Promise<{ readonly id: string; readonly version: number } | undefined> {
    const [row] = await this.#client.query(
      `SELECT id, toInt64((SELECT max(version) FROM ${STORES})) FROM ${STORES} ORDER BY made_ms, id LIMIT 1`,
    );
    return row && { id: row[0] ?? '', version: wholeOf(row[1]) };
  }

  async #identify(): Promise<{ readonly id: string; readonly version: number }> {
    const line = [this.#now(), randomUUID(), SCHEMA_VERSION].map(fieldOf).join('\t');
    await this.#client.insert(STORES, ['made_ms', 'id', 'version'], `${line}\n`);
    await delay(SETTLING_MS);
    const found = await this.#find();
    if (found === undefined) throw new ClickhouseProblem(0, 'a row that was inserted cannot be read');
    return found;
  }
}
