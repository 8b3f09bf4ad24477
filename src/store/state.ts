import type { Clock } from '../kit/time/clock.ts';
import type { AppRegistry } from '../ports/apps.ts';
import type { ByokStore } from '../ports/byok.ts';
import type { EventFeed, EventStore } from '../ports/events.ts';
import type { FileStore } from '../ports/files.ts';
import type { GenerationStore, RecentGenerations } from '../ports/generations.ts';
import type { Durability } from '../ports/journal.ts';
import type { Ledger } from '../ports/ledger.ts';
import type { Tenancy } from '../ports/tenancy.ts';
import type { WholeRow } from './ledger/books/open-generation.ts';

/** All that an installation must not lose, wherever it is kept. */
export interface State {
  readonly tenancy: Tenancy;
  readonly byokStore: ByokStore;
  readonly generationStore: GenerationStore;
  readonly fileStore: FileStore;
  readonly appRegistry: AppRegistry;
  readonly eventStore: EventStore;
  readonly eventFeed: EventFeed;
  readonly ledger: Ledger;
  readonly recentGenerations: RecentGenerations;
  /** Does something that needs the database; again, as long as it takes, where that may be away for a while. */
  whenThere<T>(work: () => Promise<T>): Promise<T>;
  /** Why the process must be restarted; null = it need not be. */
  fault(): string | null;
  close(): Promise<void>;
}

/** What state is opened with. */
export interface StateOptions {
  /** The data directory. */
  readonly directory: string;
  /** What a settlement survives. */
  durability(): Durability;
  /** How long a generation may take, milliseconds. */
  generationMs(): number;
  readonly clock: Clock;
  /** Makes rows of what was kept of generations that only began; absent = that is all of a row. */
  readonly wholeRow?: WholeRow | undefined;
  /** Is told of what went wrong and could be borne. */
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
}
