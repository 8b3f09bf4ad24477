import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { isJsonObject } from '../../kit/json/json.ts';
import type { ClickhouseAddress } from '../../kit/net/clickhouse-address.ts';
import type { ServiceClient } from '../../kit/net/service-client.ts';
import type { Clock } from '../../kit/time/clock.ts';
import type { EventStore } from '../../ports/events.ts';
import { ClickhouseEventStore } from './clickhouse/event-store.ts';
import { DuckdbEventStore } from './duckdb/event-store.ts';
import { ProgressFile } from './feed/progress-file.ts';
import { BEFORE_ALL, type MissingRows } from './feed/row-refill.ts';

/** A ClickHouse database for events, and the way to it. */
export interface ClickhouseService {
  readonly service: ServiceClient;
  readonly address: ClickhouseAddress;
}

export interface EventStorageOptions {
  /** The data directory. */
  readonly directory: string;
  /** Absent = events are in the file `events.duckdb` of the data directory. */
  readonly clickhouse?: ClickhouseService | undefined;
  readonly clock: Clock;
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
}

/** Files of a data directory that say what a storage of events has. Each storage has its own. */
interface StorageFiles {
  /** Rows that it lacks. */
  readonly owed: string;
  /** Imported usage that it has. */
  readonly imports: string;
  /** Tags of classifiers that it has. */
  readonly tags: string;
}

const DUCKDB_FILES: StorageFiles = {
  owed: 'events-owed.json',
  imports: 'events-imports.json',
  tags: 'events-tags.json',
};
const CLICKHOUSE_FILES: StorageFiles = {
  owed: 'clickhouse-owed.json',
  imports: 'clickhouse-imports.json',
  tags: 'clickhouse-tags.json',
};

/** File with the id of the tables that these files are about. */
const TABLES_FILE = 'clickhouse-tables.json';

/** Where the events of an installation are. */
export interface EventStorage {
  readonly store: EventStore;
  /** Whether it is known to be empty: its file does not exist. */
  readonly isMissing: boolean;
  readonly files: StorageFiles;
}

/** Called when a storage of events turns out to lack all earlier events. */
export interface EventStorageFate {
  /** Its file was created, for the first time or again: it has no earlier events. */
  created(): void;
  /** It is another one than before: it has no earlier events. */
  lost(): void;
}

export function openEventStorage(
  options: EventStorageOptions,
  { created, lost }: EventStorageFate,
): EventStorage {
  const { directory, clickhouse, warn } = options;
  if (clickhouse !== undefined) {
    return {
      store: openClickhouse(clickhouse, options, lost),
      isMissing: false,
      files: CLICKHOUSE_FILES,
    };
  }
  const file = join(directory, 'events.duckdb');
  return {
    isMissing: !existsSync(file),
    store: new DuckdbEventStore(file, { warn, onFileCreated: created }),
    files: DUCKDB_FILES,
  };
}

/**
 * Opens events in ClickHouse. Calls `onLost` when the tables are other ones than those that this directory has
 * noted, in this run or in an earlier one.
 */
export function openClickhouse(
  clickhouse: ClickhouseService,
  options: Omit<EventStorageOptions, 'clickhouse'>,
  onLost: () => void,
): ClickhouseEventStore {
  const file = new ProgressFile(join(options.directory, TABLES_FILE), isTables);
  let known = file.read()?.id;
  const onTablesFound = (id: string) => {
    if (id === known) return;
    if (known !== undefined) {
      options.warn(
        'the tables of events in ClickHouse are other ones than before; they are filled from the rows of generations ' +
          'and the imports that are kept; sums of days before the oldest row do not come back',
      );
      onLost();
    }
    known = id;
    // If the file cannot be written, the next start fills the tables once more.
    file.write({ id }).catch(() => {});
  };
  const { service, address } = clickhouse;
  const { warn, clock } = options;
  return new ClickhouseEventStore(service, address, { warn, now: () => clock.now(), onTablesFound });
}

function isTables(value: unknown): value is { readonly id: string } {
  return isJsonObject(value) && typeof value.id === 'string';
}

/**
 * Notes for the storage that is not used now, if it was used before, that it lacks rows from now on: it is filled when
 * it is used again.
 */
export async function disownOther(
  directory: string,
  used: EventStorage['files'],
  isMissingRows: (value: unknown) => value is MissingRows,
): Promise<void> {
  const other = used === DUCKDB_FILES ? CLICKHOUSE_FILES : DUCKDB_FILES;
  const file = new ProgressFile(join(directory, other.owed), isMissingRows);
  const noted = file.read();
  if (noted !== undefined && noted.behind?.settledAtMs !== BEFORE_ALL.settledAtMs) {
    await file.write({ behind: BEFORE_ALL });
  }
}
