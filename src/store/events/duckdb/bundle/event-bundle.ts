import { rm } from 'node:fs/promises';
import type { AppSighting } from '../../../../ports/events/apps.ts';
import type { Appended, GenerationEvent } from '../../../../ports/events/events.ts';
import type { UsageSlice } from '../../../../ports/events/imported-usage.ts';
import { mergedSighting } from '../../projection/app-sightings.ts';
import { DuckdbFileDamaged } from '../driver/duckdb-errors.ts';
import { DUCKDB_OPTIONS, type DuckdbRows, DuckdbThread } from '../driver/duckdb-thread.ts';
import { plain, type Statement, statementsOf } from '../driver/statement.ts';
import { appendedOf, type EventSource, insertStatements, placeSeriesSql } from '../insert-events.ts';
import { type NewSeries, packEvents, packSeries, seriesValuesOf } from '../pack-events.ts';
import { SCHEMA_VERSION, STAGED_TABLES } from '../schema.ts';
import { SLICE_EVENTS, sliceOf } from './usage-slices.ts';

/** The file is no bundle, was not closed, or is from another release. */
export class EventBundleUnreadable extends Error {
  constructor(file: string, reason: string) {
    super(`the events prepared in ${file} cannot be read (${reason}); prepare them again`);
    this.name = 'EventBundleUnreadable';
  }
}

const SCHEMA: readonly string[] = [
  'CREATE TABLE IF NOT EXISTS shape (version INTEGER)',
  `CREATE TABLE IF NOT EXISTS events (${STAGED_TABLES.events.join(', ')})`,
  `CREATE TABLE IF NOT EXISTS series (${STAGED_TABLES.series.join(', ')})`,
  'CREATE TABLE IF NOT EXISTS apps (sighting VARCHAR)',
  'CREATE TABLE IF NOT EXISTS slices (slice VARCHAR)',
  // Written last: a bundle without a row here was not closed.
  'CREATE TABLE IF NOT EXISTS facts (events BIGINT, repeated BIGINT)',
];

/** Slices per message: they are large. */
const SLICES_AT_ONCE = 16;

/** Creates a bundle: a file of events that is prepared outside of the store. */
export function openEventBundle(file: string, options: EventBundleOptions = {}): EventBundleWriter {
  return new EventBundleWriter(file, options);
}

export interface EventBundleOptions {
  /** Whether the bundle also has its events as slices, for `ImportedUsage`; true by default. */
  readonly keepsSlices?: boolean;
}

/** Writes a bundle. It cannot be read before `close`. */
export class EventBundleWriter {
  readonly #file: string;
  readonly #thread: DuckdbThread;
  /** Numbers of series, in order of appearance. */
  readonly #series = new Map<string, number>();
  readonly #apps = new Map<string, AppSighting>();
  readonly #keepsSlices: boolean;
  /** Events of the slice that is not full yet. */
  #unsliced: GenerationEvent[] = [];
  #slices: string[] = [];
  /** The current write, while the next events are packed. */
  #staged: Promise<unknown>;

  constructor(file: string, { keepsSlices = true }: EventBundleOptions) {
    this.#file = file;
    this.#keepsSlices = keepsSlices;
    this.#thread = new DuckdbThread({ file, options: DUCKDB_OPTIONS, schema: SCHEMA, shape: SCHEMA_VERSION });
    this.#staged = quiet(this.#thread.run(plain('BEGIN')));
  }

  /** Adds events. Rejects with GenerationRefused when one of them does not fit; discard the bundle then. */
  async add(events: readonly GenerationEvent[]): Promise<void> {
    for (let begin = 0; begin < events.length; begin += SLICE_EVENTS) {
      const slice = events.slice(begin, begin + SLICE_EVENTS);
      const added: NewSeries[] = [];
      const packed = packEvents(
        slice,
        Float64Array.from(slice, (event) => this.#number(event, added)),
      );
      await this.#staged;
      this.#staged = quiet(
        Promise.all([
          this.#thread.stage('events', packed),
          added.length === 0 ? undefined : this.#thread.stage('series', packSeries(added)),
        ]),
      );
      if (this.#keepsSlices) await this.#slice(slice);
    }
  }

  /** Cuts slices of a fixed number of events. */
  async #slice(events: readonly GenerationEvent[]): Promise<void> {
    this.#unsliced.push(...events);
    while (this.#unsliced.length >= SLICE_EVENTS) {
      this.#slices.push(JSON.stringify(sliceOf(this.#unsliced.splice(0, SLICE_EVENTS))));
    }
    if (this.#slices.length >= SLICES_AT_ONCE) await this.#stageSlices();
  }

  async #stageSlices(): Promise<void> {
    const slices = this.#slices;
    this.#slices = [];
    await this.#staged;
    if (slices.length > 0) await this.#thread.stage('slices', [slices]);
  }

  #number(event: GenerationEvent, added: NewSeries[]): number {
    const values = seriesValuesOf(event);
    const known = this.#series.get(values);
    if (known !== undefined) return known;
    const place = this.#series.size;
    this.#series.set(values, place);
    added.push({ values, event, place });
    return place;
  }

  addApps(sightings: readonly AppSighting[]): void {
    for (const sighting of sightings) {
      const before = this.#apps.get(sighting.host);
      this.#apps.set(sighting.host, before === undefined ? sighting : mergedSighting(before, sighting));
    }
  }

  /** Completes the bundle. Of events with the same id the first is kept. */
  async close(): Promise<void> {
    try {
      if (this.#unsliced.length > 0) this.#slices.push(JSON.stringify(sliceOf(this.#unsliced)));
      await this.#stageSlices();
      const apps = [...this.#apps.values()].map((sighting) => JSON.stringify(sighting));
      for (let begin = 0; begin < apps.length; begin += SLICE_EVENTS) {
        await this.#thread.stage('apps', [apps.slice(begin, begin + SLICE_EVENTS)]);
      }
      await this.#thread.run(plain('COMMIT'));
      await this.#thread.transact(statementsOf(COMPLETE));
    } finally {
      await this.#thread.close();
    }
  }

  async discard(): Promise<void> {
    await this.#staged.catch(() => {});
    await this.#thread.close();
    for (const part of ['', '.wal']) await rm(`${this.#file}${part}`, { force: true });
  }
}

/** Prevents an unhandled rejection; the error reaches the next `await`. */
function quiet<Result>(work: Promise<Result>): Promise<Result> {
  work.catch(() => {});
  return work;
}

const COMPLETE: readonly string[] = [
  'CREATE TEMP TABLE repeated AS SELECT id, min(rowid) AS first FROM events GROUP BY id HAVING count(*) > 1',
  `INSERT INTO facts SELECT (SELECT count(*) FROM events), count(*) FROM events
    JOIN repeated USING (id) WHERE events.rowid <> first`,
  `DELETE FROM events WHERE id IN (SELECT id FROM repeated)
    AND rowid NOT IN (SELECT first FROM repeated)`,
];

export async function readBundleApps(file: string): Promise<readonly AppSighting[]> {
  const rows = await readBundle(file, 'SELECT sighting FROM apps WHERE EXISTS (FROM facts)');
  return rows.map(([sighting]) => JSON.parse(String(sighting)) as AppSighting);
}

/** A thread that only reads the file of a bundle. */
export function openBundleReader(file: string): DuckdbThread {
  const options = { ...DUCKDB_OPTIONS, access_mode: 'READ_ONLY' };
  return new DuckdbThread({ file, options, schema: [], shape: SCHEMA_VERSION });
}

async function readBundle(file: string, sql: string): Promise<DuckdbRows> {
  const thread = openBundleReader(file);
  try {
    return await thread.query(plain(sql));
  } catch (error) {
    throw unreadableBundle(file, error);
  } finally {
    await thread.close();
  }
}

/** The slices of a bundle, in the order of its events. */
export async function readBundleSlices(file: string): Promise<readonly UsageSlice[]> {
  const rows = await readBundle(file, 'SELECT slice FROM slices WHERE EXISTS (FROM facts) ORDER BY rowid');
  return rows.map(([slice]) => JSON.parse(String(slice)) as UsageSlice);
}

const BUNDLE: EventSource = { events: 'bundle.events', series: 'bundle.series', places: 'placed' };

/** Searches ids among all events: an imported event may have another time. */
const ANY_TIME = { first: 0n, last: BigInt(Number.MAX_SAFE_INTEGER) };

/** Adds the events of a bundle to the database of a thread, all or none. */
export async function insertBundle(thread: DuckdbThread, file: string): Promise<Appended> {
  // Opens the database first, so that its errors are not attributed to the bundle.
  await thread.run(plain('SELECT 1'));
  try {
    await thread.run(attached(file));
    const repeated = assertComplete(
      file,
      await thread.run(plain('SELECT repeated, version FROM bundle.facts, bundle.shape')),
    );
    const placing = statementsOf(placeSeriesSql(BUNDLE));
    const answers = await thread.transact([...placing, ...insertStatements(BUNDLE, ANY_TIME)]);
    const { added, known, tooOld } = appendedOf(answers.slice(placing.length));
    return { added, known: known + repeated, tooOld };
  } catch (error) {
    throw unreadableBundle(file, error);
  } finally {
    await thread.run(plain('DETACH DATABASE IF EXISTS bundle')).catch(() => {});
  }
}

/** ATTACH takes no parameters, so the path is quoted. */
function attached(file: string): Statement {
  return plain(`ATTACH '${file.replaceAll("'", "''")}' AS bundle (READ_ONLY)`);
}

/** The number of repeated events in the facts of a bundle. Throws if it was not closed, or by another release. */
export function assertComplete(file: string, [facts]: DuckdbRows): number {
  if (facts === undefined) throw new EventBundleUnreadable(file, 'it was never closed');
  if (facts[1] !== SCHEMA_VERSION) throw new EventBundleUnreadable(file, 'it is of another release');
  return Number(facts[0]);
}

/** An error of reading a bundle, in words about the bundle. */
export function unreadableBundle(file: string, error: unknown): unknown {
  return error instanceof DuckdbFileDamaged ? new EventBundleUnreadable(file, error.message) : error;
}
