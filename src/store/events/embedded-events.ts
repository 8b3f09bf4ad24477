import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { isJsonObject } from '../../kit/json/json.ts';
import type { AppRegistry } from '../../ports/apps.ts';
import type { EventFeed } from '../../ports/event-feed.ts';
import type { EventStore } from '../../ports/events.ts';
import type { GenerationStore } from '../../ports/generations.ts';
import type { CountedGenerations } from '../ledger/embedded/open-embedded-ledger.ts';
import { DuckdbEventStore } from './duckdb/duckdb-event-store.ts';
import { type CountedGeneration, eventProjection, generationTaker } from './projection/event-projection.ts';
import { ProgressFile } from './feed/progress-file.ts';
import { type Owed, RowRefill } from './feed/row-refill.ts';

/** What events are made from and kept with. */
export interface EventsOptions {
  /** The data directory. Events have the file `events.duckdb` in it. */
  readonly directory: string;
  readonly apps: Pick<AppRegistry, 'note'>;
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
}

/** Events of a gateway that has its data directory to itself. */
export interface OwnEvents extends CountedGenerations<CountedGeneration>, EventFeed {
  readonly eventStore: EventStore;
  /** Begins to bring in what is owed. `rowsReached` resolves once all that was settled by then has its row. */
  start(rowsReached: () => Promise<void>): void;
  close(): Promise<void>;
}

/** Makes the events of a data directory ready. Their file is opened with the first of them, or by the first who asks. */
export async function openOwnEvents(
  rows: Pick<GenerationStore, 'settledAfter'>,
  { directory, apps, warn }: EventsOptions,
): Promise<OwnEvents> {
  const path = join(directory, 'events.duckdb');
  const eventStore = new DuckdbEventStore(path, { warn, onRenewed: () => refill.renewed() });
  const projection = eventProjection(eventStore, apps);
  const refill = await RowRefill.open({
    projection: generationTaker(projection),
    rows,
    file: new ProgressFile(join(directory, 'events-owed.json'), isOwed),
    isEmpty: !existsSync(path),
    warn,
  });
  return {
    eventStore,
    projection: {
      ...projection,
      async add(counted) {
        await projection.add(counted);
        await refill.written();
      },
    },
    owe: (sinceMs) => refill.owe(sinceMs),
    start: (rowsReached) => refill.start(rowsReached),
    async refill() {
      await refill.all();
      return (await eventStore.sizes()).events;
    },
    async close() {
      await refill.close();
      await eventStore.close();
    },
  };
}

function isOwed(value: unknown): value is Owed {
  if (!isJsonObject(value)) return false;
  const { behind } = value;
  return (
    behind === null ||
    (isJsonObject(behind) && Number.isSafeInteger(behind.settledAtMs) && typeof behind.id === 'string')
  );
}
