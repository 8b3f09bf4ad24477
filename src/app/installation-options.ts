import type { TestConnection } from '../broadcast/connection-test.ts';
import type { Provider } from '../catalog/catalog.ts';
import type { ProviderSetter } from '../contract/gateway/gateway-provider.ts';
import type { ClickhouseAddress } from '../kit/net/clickhouse-address.ts';
import type { DatabaseAddress } from '../kit/net/database-address.ts';
import type { EgressRules } from '../kit/net/egress.ts';
import type { CredentialProvider } from '../manage/byok/byok-secret.ts';
import type { ModelLookup } from '../manage/guardrails/known-names.ts';
import type { Sources } from '../manage/sources.ts';
import type { FileQuotas } from '../ports/content/files.ts';
import type { Durability } from '../ports/money/journal.ts';
import type { LedgerLoss } from '../ports/money/ledger-mark.ts';
import type { JudgesFor } from '../stages/guardrails/judges/judge.ts';
import type { BucketSettings } from '../store/files/file-storage.ts';
import type { SliceBounds } from '../store/ledger/postgres/slices/slice-size.ts';

/** A shared database. */
export interface SharedDatabase {
  readonly address: DatabaseAddress;
  /** Whether to wait for it when it does not answer. */
  readonly waitsForDatabase: boolean;
  /** True for a gateway, false for a command. */
  readonly isGateway: boolean;
  /** Retention of rows of generations, milliseconds. */
  retentionMs(): number;
  /** How much money is held ahead for keys that are used often; absent = none. */
  readonly slices?: (() => SliceBounds) | undefined;
}

export interface InstallationOptions {
  readonly dataDir: string;
  /** Prefix of the secrets of new keys. */
  readonly keyPrefix: string;
  /** Configured vendor name; part of some names of metrics, and of the ids of routers. Absent = unknown. */
  readonly vendor?: string | undefined;
  /** Initial balance of a new account, USD; null or absent = not enforced. */
  readonly initialUsd?: (() => number | null) | undefined;
  /** The providers of the configuration, for stored credentials; none by default. */
  readonly providers?: (() => readonly CredentialProvider[]) | undefined;
  /** What the configuration file and the environment set, by the slugs of providers; nothing by default. */
  readonly providerSetters?: (() => ReadonlyMap<string, ProviderSetter>) | undefined;
  /** A provider of the running catalogue; by default none is known. */
  readonly runningProvider?: ((slug: string) => Provider | undefined) | undefined;
  /** The models that guardrails may name; by default none is known, and any name is taken. */
  readonly models?: (() => ModelLookup) | undefined;
  /** Address of a Presidio-compatible service; null or absent = there is none. */
  readonly presidioUrl?: (() => string | null) | undefined;
  /** The services of guardrails, for trials; absent = trials leave them out. */
  readonly judgesFor?: JudgesFor | undefined;
  /** Tests connections to destinations; absent = there is no way out. */
  readonly testConnection?: TestConnection | undefined;
  /** Addresses that stored credentials may name; public ones by default. */
  readonly egress?: (() => EgressRules) | undefined;
  /** 32 bytes in base64; the directory's own key when absent. */
  readonly encryptionKey?: string | undefined;
  /** False: a database whose schema lacks something is refused; true by default. */
  readonly mayMigrate?: boolean | undefined;
  /** True for a gateway: reads of an embedded database do not wait for writes; false by default. */
  readonly readsApart?: boolean | undefined;
  /** Absent = an embedded database in the data directory. */
  readonly database?: SharedDatabase | undefined;
  /** Where events are; absent = in a file of the data directory. */
  readonly clickhouse?: ClickhouseAddress | undefined;
  /** Where files and content are; absent = in the data directory. */
  readonly bucket?: BucketSettings | null | undefined;
  /** How much may be stored as files; no limits by default. */
  readonly fileQuotas?: (() => FileQuotas) | undefined;
  /** Free disk below which no files are stored, bytes; 0 by default. */
  readonly fileFloorBytes?: (() => number) | undefined;
  /** Longest duration of a generation, milliseconds; by default the configuration's default. */
  readonly generationMs?: (() => number) | undefined;
  /** Durability of settlements; `power` by default. */
  readonly durability?: (() => Durability) | undefined;
  /** Logs problems that do not stop the gateway. */
  readonly warn?: ((message: string, fields?: Readonly<Record<string, unknown>>) => void) | undefined;
  /** Shortest wait for the disk of the ledger that is logged, milliseconds; SLOW_DISK_MS by default. */
  readonly slowDiskMs?: number | undefined;
  readonly sources?: Sources | undefined;
  /** Accepts an embedded ledger that ends before the database's mark; absent = opening fails then. */
  readonly acceptLoss?: ((loss: LedgerLoss) => void) | undefined;
}
