import type { Nanos } from '../kit/money.ts';
import type { DimensionName, Granularity, MetricName, Operator } from './event-names.ts';

/** One generation, as it is counted. Its id says whether it was counted already. Null = not known, or none. */
export interface GenerationEvent {
  readonly id: string;
  /** When the request came in, epoch milliseconds: what time buckets and ranges go by. */
  readonly createdAtMs: number;
  readonly accountId: string;
  readonly workspaceId: string;
  /** Null for imported ones that name no key. */
  readonly keyHash: string | null;
  /** Who made the key. */
  readonly userId: string | null;
  /** Host and port of the app's address. */
  readonly app: string | null;
  readonly modelId: string;
  readonly model: string;
  readonly variant: string;
  readonly provider: string | null;
  readonly endpoint: string | null;
  readonly origin: string | null;
  readonly country: string | null;
  readonly finishReason: string | null;
  readonly externalUser: string | null;
  readonly contextLengthBucket: string;
  /** See `modalitiesText`. */
  readonly modalities: string;
  /** The request asked for endpoints that retain nothing. */
  readonly isZdr: boolean;
  readonly isByok: boolean;
  readonly isGuarded: boolean;
  readonly isFromCache: boolean;
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly reasoningTokens: number;
  readonly cachedTokens: number;
  readonly latencyMs: number | null;
  readonly generationMs: number | null;
  readonly creditNanos: Nanos;
  readonly byokNanos: Nanos;
  readonly upstreamNanos: Nanos;
  readonly cacheNanos: Nanos | null;
  readonly webNanos: Nanos | null;
}

/** One condition. Those on values leave out what has no value, unless `includesUnset`. */
export interface EventFilter {
  readonly field: DimensionName;
  readonly operator: Operator;
  /** One value for operators that compare, any number of them for `in` and `not_in`. */
  readonly values: readonly string[];
  readonly includesUnset: boolean;
}

/** What rows are put in order by. */
export interface EventOrder {
  readonly field: MetricName | DimensionName | 'date';
  readonly direction: 'asc' | 'desc';
}

/** A question to the events, checked: every name is of a table, every value is bound. */
export interface EventQuery {
  /** Whose events; null = those of everybody. */
  readonly accountId: string | null;
  readonly metrics: readonly MetricName[];
  readonly dimensions: readonly DimensionName[];
  /** Null = no time buckets. */
  readonly granularity: Granularity | null;
  /** First millisecond. */
  readonly startMs: number;
  /** The millisecond after the last one. */
  readonly endMs: number;
  /** All must hold. */
  readonly filters: readonly EventFilter[];
  /** Equal rows, and all when it is null: latest first, then by dimensions. Null values come last. */
  readonly order: EventOrder | null;
  readonly limit: number;
  /** Rows for each combination of dimensions; null = all. Of no meaning without dimensions. */
  readonly groupLimit: number | null;
}

/** Counts and money (nano-dollars) are whole numbers; means, percentiles and shares are not. Null = no data. */
export type MetricValue = bigint | number | null;

/** One row of an answer, in the order of the names asked for. */
export interface EventRow {
  /** Where the bucket begins, epoch milliseconds, UTC; null without granularity. */
  readonly bucketMs: number | null;
  readonly dimensions: readonly (string | null)[];
  readonly metrics: readonly MetricValue[];
}

/** What a query found. */
export interface EventAnswer {
  readonly rows: readonly EventRow[];
  /** How many rows there would be without limits. */
  readonly totalRows: number;
  /** Different combinations of dimensions among them. */
  readonly groups: number;
  /** Whether limits cut rows. */
  readonly isTruncated: boolean;
  /** Events before this moment are no longer kept in the detail that the query needs; null = it reaches all. */
  readonly missingBeforeMs: number | null;
}

/** A stretch of whole UTC days: its first millisecond, and the one after its last. */
export interface DayWindow {
  readonly startMs: number;
  readonly endMs: number;
}

/** Whole numbers, exact: bigint where a number would not be. */
export type WholeNumbers = ArrayLike<number | bigint>;

/**
 * What apps used, in columns: there may be many of them. Those of tokens and requests are one for each of the windows asked
 * for, in which an app stands where it stands among the apps.
 */
export interface AppTotals {
  /** Host and port of their addresses. */
  readonly apps: readonly string[];
  /** Prompt and completion. */
  readonly tokens: readonly WholeNumbers[];
  readonly requests: readonly WholeNumbers[];
}

/** A file of events that were prepared apart from the store, by `openEventBundle`. */
export interface EventBundle {
  readonly file: string;
}

/** What became of events that were handed over. */
export interface Appended {
  readonly added: number;
  /** Known already: nothing changed. */
  readonly known: number;
  /** From before the last pruning: whether they were counted cannot be told any more, so they are not. */
  readonly tooOld: number;
}

/** How much there is. */
export interface EventSizes {
  readonly events: number;
  readonly dailyRows: number;
  readonly bytes: number;
}

/** Events of generations, to be counted: a projection of the ledger. Rejects with DatabaseUnavailable where another try may help. */
export interface EventStore {
  /**
   * Adds events; those whose id is there already change nothing. All or none. Rejects with GenerationRefused when one of
   * them is to blame.
   */
  append(events: readonly GenerationEvent[]): Promise<Appended>;
  /** Answers a question. Rejects with the reason of the signal once that is aborted. */
  query(query: EventQuery, signal?: AbortSignal): Promise<EventAnswer>;
  /**
   * What every app used, over all accounts, requests that asked for zero retention left out. Apps with no tokens and no
   * requests in the first window are left out too. Fast over a year of ten thousand apps: it reads sums only.
   */
  appTotals(windows: readonly DayWindow[], signal?: AbortSignal): Promise<AppTotals>;
  /** Adds the events of a bundle: all or none, however many they are. One whose id is there changes nothing, whatever its moment. */
  takeIn(bundle: EventBundle): Promise<Appended>;
  /**
   * Removes the events of whole UTC days before a moment. Their daily sums stay. Resolves with how many were removed.
   */
  prune(beforeMs: number): Promise<number>;
  sizes(): Promise<EventSizes>;
  close(): Promise<void>;
}

/** Brings generations to the event store, in the background. */
export interface EventFeed {
  /** Hands all over again that have rows: what is there already changes nothing. Resolves with how many events there are. */
  refill(): Promise<number>;
}
