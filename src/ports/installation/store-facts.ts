import type { EventSizes } from '../events/events.ts';

/*
 * Facts about the stores of an installation, for `doctor`. They are plain data: a running gateway sends them to the
 * command.
 */

/** How the schema of a database compares with the migrations that this program knows. */
export interface SchemaState {
  /** Migrations that the database lacks, in the order in which they are applied. */
  readonly missing: readonly string[];
  /** Applied migrations of a newer release. They only add, so that this program can work beside that release. */
  readonly newer: readonly string[];
  /** Migrations that a program must know to work with this database, and that this one does not know. */
  readonly required: readonly string[];
  /** True if a version before the first release made the database: no release can work with it. */
  readonly isUnreleased: boolean;
}

export interface DatabaseFacts {
  /** Duration of one query, milliseconds. */
  readonly roundTripMs: number;
  readonly bytes: number;
  readonly schema: SchemaState;
  readonly encryptionKeyIds: readonly string[];
  /** When the last generation was settled, epoch milliseconds; undefined when none was. */
  readonly lastSettledAtMs: number | undefined;
  readonly hasApps: boolean;
  /** Stored files, at most `MAX_EXAMINED_FILES` of them. */
  readonly files: readonly KnownFile[];
}

export interface KnownFile {
  readonly id: string;
  readonly bytes: number;
}

export interface PostgresFacts extends DatabaseFacts {
  /** How far its clock is ahead of this machine's, milliseconds. */
  readonly clockAheadMs: number;
  readonly connections: ConnectionFacts;
}

/** Connections of gateways beside those that the server allows. */
export interface ConnectionFacts {
  readonly gateways: number;
  /** Connections that one of them may have open. */
  readonly perGateway: number;
  /** Connections that the server allows, without those that it reserves. */
  readonly allowed: number;
}

export interface RedisFacts {
  /** Host and port. */
  readonly name: string;
  readonly version: string;
  readonly roundTripMs: number;
  readonly usedBytes: number;
  /** A replica refuses writes. */
  readonly isReplica: boolean;
}

export interface ClickhouseFacts {
  readonly version: string;
  readonly roundTripMs: number;
  /** Undefined before the first start with it: there are no tables. */
  readonly sizes: EventSizes | undefined;
}

/** Facts about a server, or why it cannot be used: `problem; advice`, with host and error code. */
export type Examined<Facts> =
  | { readonly ok: true; readonly facts: Facts }
  | { readonly ok: false; readonly problem: string };

/** Looks at the servers that an installation uses, changing nothing. Null without such a server. Never rejects. */
export interface StoreServers {
  postgres(): Promise<Examined<PostgresFacts> | null>;
  redis(): Promise<Examined<RedisFacts> | null>;
  clickhouse(): Promise<Examined<ClickhouseFacts> | null>;
}
