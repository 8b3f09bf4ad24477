import type { Clock } from '../kit/time/clock.ts';
import type { FileStore } from '../ports/content/files.ts';
import type { AppRegistry } from '../ports/events/apps.ts';
import type { EventFeed, EventStore } from '../ports/events/events.ts';
import type {
  ClassificationStore,
  ClassifierRunStore,
  ClassifierStore,
} from '../ports/following/classifiers.ts';
import type { DestinationStore } from '../ports/following/destinations.ts';
import type { FollowerNotes } from '../ports/following/follower-notes.ts';
import type { SettledRows } from '../ports/following/settled-rows.ts';
import type { SpooledContents } from '../ports/following/spooled-contents.ts';
import type { GenerationStore, RecentGenerations } from '../ports/generations/generations.ts';
import type { RefusedRequests } from '../ports/generations/refused-requests.ts';
import type { Durability } from '../ports/money/journal.ts';
import type { Ledger } from '../ports/money/ledger.ts';
import type { Changes } from '../ports/shared/changes.ts';
import type { ByokStore } from '../ports/tenancy/byok.ts';
import type { GatewayProviderStore } from '../ports/tenancy/gateway-providers.ts';
import type { GuardrailStore } from '../ports/tenancy/guardrails.ts';
import type { MemberStore } from '../ports/tenancy/members.ts';
import type { SessionStore } from '../ports/tenancy/sessions.ts';
import type { Tenancy } from '../ports/tenancy/tenancy.ts';
import type { CallCountStore } from '../ports/upstreams/call-counts.ts';
import type { McpMemory } from '../ports/upstreams/mcp-memory.ts';
import type { PriceStore } from '../ports/upstreams/prices.ts';
import type { ClickhouseService } from './events/event-storage.ts';
import type { DiskWatchOptions } from './journal/disk-watch.ts';
import type { CompleteRow } from './ledger/books/open-generation.ts';
import type { OpeningReport } from './ledger/opened-ledger.ts';
import type { SharedStores } from './shared-memory/shared-stores.ts';

/** The durable state of an installation: embedded in the data directory, or in a shared PostgreSQL database. */
export interface State {
  readonly changes: Changes;
  readonly tenancy: Tenancy;
  readonly byokStore: ByokStore;
  readonly guardrailStore: GuardrailStore;
  readonly destinationStore: DestinationStore;
  readonly gatewayProviderStore: GatewayProviderStore;
  readonly memberStore: MemberStore;
  readonly classifierStore: ClassifierStore;
  readonly classificationStore: ClassificationStore;
  readonly classifierRunStore: ClassifierRunStore;
  readonly mcpMemory: McpMemory;
  readonly sessionStore: SessionStore;
  readonly priceStore: PriceStore;
  readonly callCountStore: CallCountStore;
  readonly generationStore: GenerationStore;
  readonly refusedRequests: RefusedRequests;
  readonly fileStore: FileStore;
  readonly appRegistry: AppRegistry;
  readonly eventStore: EventStore;
  readonly eventFeed: EventFeed;
  readonly settledRows: SettledRows;
  readonly followerNotes: FollowerNotes;
  readonly spooledContents: SpooledContents;
  readonly ledger: Ledger;
  readonly recentGenerations: RecentGenerations;
  /** Settles open generations by their last checkpoints: the process that ran them is gone. Never rejects. */
  settleInterrupted(generationIds: readonly string[]): Promise<void>;
  /** Limits and routing memory of gateways that share a database; undefined for an embedded one, and for a command. */
  readonly sharedStores: SharedStores | undefined;
  /** Runs work that needs the database. A gateway with a shared database retries it until the database answers. */
  whenDatabaseUp<T>(work: () => Promise<T>): Promise<T>;
  /** Whether the database answers. An embedded one always does. */
  isDatabaseUp(): boolean;
  /** Why the process must be restarted; null = no reason. */
  restartReason(): string | null;
  /** Work that opening the ledger has done; undefined for a command beside gateways. */
  readonly recovery: OpeningReport | undefined;
  close(): Promise<void>;
}

/** Options for opening the state. */
export interface StateOptions {
  /** The data directory. */
  readonly directory: string;
  /** Where events are; absent = in the data directory. */
  readonly clickhouse?: ClickhouseService | undefined;
  /** False: a database whose schema lacks something is refused; true by default. */
  readonly mayMigrate?: boolean;
  /** Durability of settlements. */
  durability(): Durability;
  /** How long a generation may take, milliseconds. */
  generationMs(): number;
  readonly clock: Clock;
  /** Completes the row of a generation that crashed after its start; absent = the row is stored as it is. */
  readonly completeRow?: CompleteRow | undefined;
  /** Which waits for the disk of the journal are logged, and how; absent = none. */
  readonly slowDisk?: DiskWatchOptions | undefined;
  /** Logs problems that do not stop the gateway. */
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
}
