import type { Nanos } from '../../kit/money.ts';
import type { ClassifierTag } from '../following/classifiers.ts';
import type { DimensionName, Granularity, MetricName, Operator } from './event-names.ts';

/**
 * One generation as analytics count it. Events with an id that is known already are not counted again. Null = unknown
 * or none.
 */
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
  /** Further facts for the log of generations; absent for imported usage and events of earlier releases. */
  readonly log?: LogFacts;
  /** Usage from elsewhere, which the ledger has not booked. */
  readonly isImported: boolean;
  /**
   * Refused requests that the event stands for, all of one key and for one reason; absent = it is a generation. Only
   * the log and `refused_count` have such events.
   */
  readonly refusedRequests?: number | undefined;
}

/**
 * How a generation went. `fallback`: answered after an attempt failed. `cancelled`: its caller left. `refused`: before
 * any upstream was called, at no cost.
 */
export const LOG_STATES = ['answered', 'fallback', 'failed', 'cancelled', 'refused'] as const;

export type LogState = (typeof LOG_STATES)[number];

/** Facts that only the log of generations shows. */
export interface LogFacts {
  readonly state: LogState;
  /** Format of the request: `chat`, `messages`, `responses` or `embeddings`. */
  readonly format: string | null;
  readonly sessionId: string | null;
  /** Null if the caller named none. */
  readonly requestId: string | null;
  /** Milliseconds from arrival to settlement. */
  readonly durationMs: number;
  /** Status that the caller got for a failure. */
  readonly errorStatus: number | null;
  /** Type of the failure, as callers see it. */
  readonly errorType: string | null;
  /** Upstream calls. */
  readonly attempts: number;
  readonly toolCalls: number;
  readonly isStreamed: boolean;
  /** The trace that the caller named, 32 hexadecimal digits; null = none. */
  readonly traceId: string | null;
}

/** One condition. Events without a value do not match, unless `includesUnset`. */
export interface EventFilter {
  readonly field: DimensionName;
  readonly operator: Operator;
  /** One value for comparisons, any number for `in` and `not_in`. */
  readonly values: readonly string[];
  readonly includesUnset: boolean;
}

/** What groups or filters by the tags of a classifier. Tags are kept as long as the events. */
export interface TagQuery {
  readonly classifierId: string;
  /** Null = tags only filter. */
  readonly grouping: TagGrouping | null;
  /** All must hold. Events without a tag of the dimension do not match. */
  readonly filters: readonly TagFilter[];
}

export interface TagGrouping {
  /**
   * At most two dimensions of the classifier: the value of each is one more dimension of the rows. Null = all of them:
   * the name of a dimension and its value are two more, and an event counts once for each of its tags.
   */
  readonly names: readonly string[] | null;
  /** Events that lack one of the tags, or without names all, count too: with null in its place. */
  readonly includesUntagged: boolean;
}

export interface TagFilter {
  readonly dimension: string;
  readonly operator: 'in' | 'not_in';
  readonly values: readonly string[];
}

/** A dimension that `TagGrouping` adds, by its place among those. */
export const TAG_PLACES = ['tag0', 'tag1'] as const;

export type TagPlace = (typeof TAG_PLACES)[number];

export interface EventOrder {
  readonly field: MetricName | DimensionName | TagPlace | 'date';
  readonly direction: 'asc' | 'desc';
}

/** A validated query: every name is one of the tables in `event-names.ts`, every value is bound as a parameter. */
export interface EventQuery {
  /** Null = all accounts. */
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
  /** Ties, and all rows when null, go latest first, then by dimensions. Null values come last. */
  readonly order: EventOrder | null;
  readonly limit: number;
  /** Maximum of rows for each combination of dimensions; null = all. Ignored without dimensions. */
  readonly groupLimit: number | null;
  /** Absent = tags play no part. */
  readonly tags?: TagQuery | undefined;
}

/** Counts and money (nano-dollars) are whole numbers; means, percentiles and shares are not. Null = no data. */
export type MetricValue = bigint | number | null;

/** One row of an answer, in the order of the names asked for. */
export interface EventRow {
  /** Where the bucket begins, epoch milliseconds, UTC; null without granularity. */
  readonly bucketMs: number | null;
  /** Those of tags are the last. */
  readonly dimensions: readonly (string | null)[];
  readonly metrics: readonly MetricValue[];
}

export interface EventAnswer {
  readonly rows: readonly EventRow[];
  /** How many rows there would be without limits. */
  readonly totalRows: number;
  /** Whether limits cut rows. */
  readonly isTruncated: boolean;
  /** Events before this moment were pruned and the query needs them; null = the answer is complete. */
  readonly missingBeforeMs: number | null;
}

/** Asks for the figures of a period and of the one before it, as a whole, by time and by the values of a dimension. */
export interface BreakdownQuery {
  readonly accountId: string;
  /** First millisecond of the period. The period before ends here and is as long. */
  readonly startMs: number;
  /** The millisecond after the last one. */
  readonly endMs: number;
  /** All must hold. */
  readonly filters: readonly EventFilter[];
  readonly metrics: readonly MetricName[];
  readonly granularity: Granularity;
  readonly dimension: DimensionName;
  /** Maximum of groups: those with the most of the first metric in the period. */
  readonly limit: number;
}

/** Figures of a period, in the order of the metrics asked for. */
export interface PeriodFigures {
  /** Undefined without events. */
  readonly total: EventRow | undefined;
  /** Time buckets with events, latest first. */
  readonly series: readonly EventRow[];
  /** One row for each value of the dimension. */
  readonly groups: readonly EventRow[];
}

export interface Breakdown {
  /** Groups with the most of the first metric come first. */
  readonly now: PeriodFigures;
  /** Groups are those of `now` that have events here. */
  readonly before: PeriodFigures;
  /** Groups that there would be in `now` without the limit. */
  readonly groupCount: number;
  /** Events before this moment were pruned and `now` needs them; null = it is complete. */
  readonly missingBeforeMs: number | null;
}

/** Conditions of the log of generations; all must hold. An empty list or null = any. */
export interface LogFilter {
  readonly accountId: string;
  /** First millisecond of arrival. */
  readonly fromMs: number;
  /** The millisecond after the last one. */
  readonly toMs: number;
  /** Ended at this moment or later: rows that are new since an earlier look. */
  readonly endedFromMs: number | null;
  readonly models: readonly string[];
  readonly providers: readonly string[];
  readonly keys: readonly string[];
  readonly workspaces: readonly string[];
  /** Hosts of apps. */
  readonly apps: readonly string[];
  readonly sessionIds: readonly string[];
  /** End users, as requests name them. */
  readonly externalUsers: readonly string[];
  readonly states: readonly LogState[];
  readonly formats: readonly string[];
  readonly finishReasons: readonly string[];
  readonly errorStatuses: readonly number[];
  readonly isStreamed: boolean | null;
  readonly minDurationMs: number | null;
  readonly maxDurationMs: number | null;
  readonly minNanos: Nanos | null;
  readonly maxNanos: Nanos | null;
  /** Of 32 hexadecimal digits. A generation whose caller named none has one of its own: `GenerationIds`. */
  readonly traceIds: readonly string[];
  /** The beginning of a generation's id (`gen-...`), part of its request id, session id or end user, or its trace. */
  readonly search: string | null;
}

/** What the log is in order of. Rows without the value count as 0. */
export type LogSort = 'arrival' | 'duration' | 'first-content' | 'cost';

/** A position in the log: by what it is in order of (milliseconds, or nano-dollars), then by id. */
export interface LogPosition {
  readonly value: bigint;
  readonly id: string;
}

/** What a row of the log is in order of, by the order. */
export const LOG_SORT_VALUES: Readonly<Record<LogSort, (row: LoggedGeneration) => bigint>> = {
  arrival: ({ createdAtMs }) => BigInt(createdAtMs),
  duration: ({ durationMs }) => BigInt(durationMs ?? 0),
  'first-content': ({ latencyMs }) => BigInt(latencyMs ?? 0),
  cost: ({ creditNanos }) => creditNanos,
};

export interface LogQuery extends LogFilter {
  readonly sort: LogSort;
  /** `desc`: newest, longest or dearest first. */
  readonly order: 'desc' | 'asc';
  /** Rows behind this position, in the order asked for; null = from the beginning. */
  readonly after: LogPosition | null;
  readonly limit: number;
  /**
   * Milliseconds after which the search stops with the rows that it has found; null = it goes through the range. In
   * another order than that of arrival the newest part of the range is searched first.
   */
  readonly stopAfterMs: number | null;
}

export type LoggedGeneration = Pick<
  GenerationEvent,
  | 'id'
  | 'createdAtMs'
  | 'workspaceId'
  | 'keyHash'
  | 'app'
  | 'modelId'
  | 'provider'
  | 'endpoint'
  | 'finishReason'
  | 'externalUser'
  | 'isByok'
  | 'isGuarded'
  | 'isFromCache'
  | 'promptTokens'
  | 'completionTokens'
  | 'reasoningTokens'
  | 'cachedTokens'
  | 'latencyMs'
  | 'generationMs'
  | 'creditNanos'
  | 'byokNanos'
> & {
  readonly [Name in Exclude<keyof LogFacts, 'state'>]: LogFacts[Name] | null;
} & Pick<LogFacts, 'state'> & {
    /** Refused requests that the row stands for; null = it is a generation. */
    readonly refusedRequests: number | null;
  };

export interface LogPage {
  readonly rows: readonly LoggedGeneration[];
  /**
   * Where the search stopped for lack of time: what arrived before this moment, or in ascending order of arrival from
   * it on, was not searched. Null = the page is final.
   */
  readonly searchedToMs: number | null;
}

/** Asks how many generations a filter matches. */
export interface LogCountsQuery extends LogFilter {
  /** Width of a bucket, milliseconds. Buckets begin at multiples of it. */
  readonly bucketMs: number;
  /** Milliseconds after which counting stops, the newest part of the range being counted first; null = it does not. */
  readonly stopAfterMs: number | null;
}

/** Rows of the log in a bucket of time. */
export interface LogBucket {
  readonly startMs: number;
  /** All rows. */
  readonly count: number;
  readonly failed: number;
  /** Rows of refused requests. */
  readonly refused: number;
  /** Refused requests that these rows stand for. */
  readonly refusedRequests: number;
}

/** Rows of the log in buckets of time. */
export interface LogCounts {
  /** Buckets with rows, in order. */
  readonly buckets: readonly LogBucket[];
  /** Where counting stopped for lack of time, the begin of a bucket: older ones are not counted. Null = all are. */
  readonly countedFromMs: number | null;
  /** Events before this moment were pruned and the filter needs them; null = none that it needs were. */
  readonly missingBeforeMs: number | null;
}

/**
 * What conversations are in order of: the arrival of their last generation, the time from their first to their last
 * moment, or a sum.
 */
export type ConversationSort = 'last' | 'duration' | 'generations' | 'tokens' | 'cost' | 'failed';

/** A position in a list of conversations: by what it is in order of, then by workspace and session. */
export interface ConversationPosition {
  readonly value: bigint;
  readonly workspaceId: string;
  readonly sessionId: string;
}

/** Asks for conversations. Generations that the filter leaves out are no part of them. */
export interface ConversationsQuery extends LogFilter {
  /** Part of the session id; null = any. */
  readonly sessionSearch: string | null;
  readonly sort: ConversationSort;
  /** `desc`: the latest, longest or largest first. */
  readonly order: 'desc' | 'asc';
  /** Conversations behind this position, in the order asked for; null = from the beginning. */
  readonly after: ConversationPosition | null;
  readonly limit: number;
}

/** The generations of a workspace that name the same session id, in a range of time. */
export interface Conversation {
  readonly sessionId: string;
  readonly workspaceId: string;
  /** When its first request came in. */
  readonly firstMs: number;
  /** When its last request came in. */
  readonly lastMs: number;
  /** When the last of its answers ended. */
  readonly endMs: number;
  readonly generations: number;
  readonly failed: number;
  /** Rows of refused requests. They are no generations. */
  readonly refused: number;
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly reasoningTokens: number;
  readonly cachedTokens: number;
  readonly creditNanos: Nanos;
  readonly byokNanos: Nanos;
  /** Of its last request; null = imported, without a key. */
  readonly keyHash: string | null;
  /** Of its last request that has one. */
  readonly app: string | null;
  /** Of its last request that names one. */
  readonly externalUser: string | null;
  /** Models of its generations, the most used first; at most `MAX_CONVERSATION_MODELS`. */
  readonly models: readonly string[];
}

/** Models that are told of a conversation. */
export const MAX_CONVERSATION_MODELS = 20;

/** What a conversation is in order of, by the order. */
export const CONVERSATION_SORT_VALUES: Readonly<
  Record<ConversationSort, (conversation: Conversation) => bigint>
> = {
  last: ({ lastMs }) => BigInt(lastMs),
  duration: ({ firstMs, endMs }) => BigInt(endMs - firstMs),
  generations: ({ generations }) => BigInt(generations),
  tokens: ({ promptTokens, completionTokens }) => BigInt(promptTokens + completionTokens),
  cost: ({ creditNanos }) => creditNanos,
  failed: ({ failed }) => BigInt(failed),
};

export interface Conversations {
  readonly conversations: readonly Conversation[];
  /** Events before this moment were pruned and the range has them; null = none of it were. */
  readonly missingBeforeMs: number | null;
}

/** A range of whole UTC days: first millisecond, and the one after the last. */
export interface DayWindow {
  readonly startMs: number;
  readonly endMs: number;
}

/** Exact whole numbers: bigint above 2^53. */
export type WholeNumbers = ArrayLike<number | bigint>;

/**
 * Usage of apps in columns, because there may be very many apps. `tokens` and `requests` have one column for each
 * window; the values of an app stand at its index in `apps`.
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

export interface Appended {
  readonly added: number;
  /** Skipped: their ids are known. */
  readonly known: number;
  /** Skipped: older than the last pruning, so their ids can no longer be checked. */
  readonly tooOld: number;
}

export interface EventSizes {
  readonly events: number;
  readonly dailyRows: number;
  readonly bytes: number;
}

/** Events of generations: a projection of the ledger. Rejects with DatabaseUnavailable when a retry may help. */
export interface EventStore {
  /**
   * Adds events, all or none; known ids are skipped. Rejects with GenerationRefused when one of the events can never
   * be stored.
   */
  append(events: readonly GenerationEvent[]): Promise<Appended>;
  /**
   * Adds tags of generations. Known ones, and those of generations before the last pruning, are skipped. Their events
   * may come later.
   */
  addTags(tags: readonly ClassifierTag[]): Promise<void>;
  /** Rejects with the signal's reason once it is aborted. */
  query(query: EventQuery, signal?: AbortSignal): Promise<EventAnswer>;
  /**
   * Says in one answer what would take a query for each of its parts. Rejects with the signal's reason once it is
   * aborted.
   */
  breakdown(query: BreakdownQuery, signal?: AbortSignal): Promise<Breakdown>;
  /** A page of single generations. Rejects with the signal's reason once it is aborted. */
  log(query: LogQuery, signal?: AbortSignal): Promise<LogPage>;
  /** How many generations a filter matches, over time. */
  logCounts(query: LogCountsQuery, signal?: AbortSignal): Promise<LogCounts>;
  /** A page of conversations. In the order of the latest, its time hardly depends on how many there are. */
  conversations(query: ConversationsQuery, signal?: AbortSignal): Promise<Conversations>;
  /**
   * Usage of every app over all accounts, without requests that asked for zero retention and without apps that have no
   * requests in the first window. Reads sums only, so it is fast over a year of ten thousand apps.
   */
  appTotals(windows: readonly DayWindow[], signal?: AbortSignal): Promise<AppTotals>;
  /** Adds the events of a bundle, all or none. Known ids are skipped, also if their time differs. */
  addBundle(bundle: EventBundle): Promise<Appended>;
  /**
   * Removes events of whole UTC days before a moment, and tags; their daily sums stay. Resolves with the number of
   * events removed.
   */
  prune(beforeMs: number): Promise<number>;
  sizes(): Promise<EventSizes>;
  /** Writes a copy of the store into a new file; false if there are no events. */
  copyTo(file: string): Promise<boolean>;
  /** True while events that were lost, or deferred for long, are filled again: answers lack some of them. */
  readonly isRefilling: boolean;
  /** False if the last work on the store failed; true before the first. */
  readonly isAvailable: boolean;
  close(): Promise<void>;
}

/** Feeds generations to the event store in the background. */
export interface EventFeed {
  /**
   * Feeds all generations that have rows, and imported usage, again; known ids are skipped. Resolves with the number
   * of events.
   */
  refill(): Promise<number>;
}
