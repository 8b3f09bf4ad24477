import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { isJsonObject } from '../../kit/json/json.ts';
import type { ClickhouseAddress } from '../../kit/net/clickhouse-address.ts';
import type { ServiceClient } from '../../kit/net/service-client.ts';
import type { Clock } from '../../kit/time/clock.ts';
import type { EventStore } from '../../ports/events/events.ts';
import { ClickhouseEventStore } from './clickhouse/event-store.ts';
import { DuckdbEventStore } from './duckdb/event-store.ts';
import { ProgressFile } from './feed/progress-file.ts';

/** A ClickHouse database for events, and the way to it. */
export interface ClickhouseService {
  readonly service: ServiceClient;
  readonly address: ClickhouseAddress;
}

export interface EventStorageOptions {
  /** The data directory. */
  readonly directory: string;
  readonly clock: Clock;
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
}

/** Where the events of an installation are. */
export interface EventStorage {
  readonly store: EventStore;
  /** Whether it is known to be empty: its file does not exist. */
  readonly isMissing: boolean;
  /** Files of the data directory that say how far it is fed, each with what. */
  readonly files: Readonly<Record<'rows' | 'imports' | 'tags', string>>;
}

/** A storage that gateways may share. */
export interface ClickhouseStorage extends EventStorage {
  /** The id of its tables. Rejects with EventsUnavailable. */
  tablesId(): Promise<string>;
}

/** Events in a file of the data directory. Calls `onLost` when it was created, for the first time or again. */
export function openDuckdbStorage(
  { directory, warn }: EventStorageOptions,
  onLost: () => void,
): EventStorage {
  const file = join(directory, 'events.duckdb');
  return {
    isMissing: !existsSync(file),
    store: new DuckdbEventStore(file, { warn, onFileCreated: onLost }),
    files: { rows: 'events-fed.json', imports: 'events-imports.json', tags: 'events-tags.json' },
  };
}

/** File with the id of the ClickHouse tables that were used last. */
const TABLES_FILE = 'clickhouse-tables.json';

/**
 * Events in ClickHouse. Calls `onLost` when the tables are other ones than those that this directory has noted, in this
 * run or in an earlier one.
 */
export function openClickhouseStorage(
  { service, address }: ClickhouseService,
  { directory, clock, warn }: EventStorageOptions,
  onLost: () => void,
): ClickhouseStorage {
  const file = new ProgressFile(join(directory, TABLES_FILE), isTables);
  let known = file.read()?.id;
  const onTablesFound = (id: string) => {
    if (id === known) return;
    if (known !== undefined) {
      warn(
        'the tables of events in ClickHouse are other ones than before; they are filled from the rows of generations ' +
          'and the imports that are kept; sums of days before the oldest row do not come back',
      );
      onLost();
    }
    known = id;
    // If the file cannot be written, the next start fills the tables once more.
    file.write({ id }).catch(() => {});
  };
  const store = new ClickhouseEventStore(service, address, { warn, now: () => clock.now(), onTablesFound });
  return {
    isMissing: false,
    store,
    tablesId: () => store.tablesId(),
    files: { rows: 'clickhouse-fed.json', imports: 'clickhouse-imports.json', tags: 'clickhouse-tags.json' },
  };
}

function isTables(value: unknown): value is { readonly id: string } {
  return isJsonObject(value) && typeof value.id === 'string';
}
