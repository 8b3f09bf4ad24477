/** Where the last successful request of a conversation was served. */
export interface Pin {
  /** Site of the candidate (`siteOf`). */
  readonly site: string;
  /** The model that answered: a router chooses it again. */
  readonly modelId: string;
}

export interface FailureCount {
  /** Whose requests they may be due to; null = to no account's. */
  readonly account: string | null;
  readonly count: number;
}

/** Counts of a histogram by bucket; empty buckets are left out. */
export type BucketCounts = readonly (readonly [bucket: number, count: number])[];

/** Measurements of a site since the report before. */
export interface MeasuredCalls {
  readonly calls: number;
  /** Failures that make the site unstable for all. */
  readonly failures: number;
  /** Failures of the requests of one account alone. */
  readonly failuresOfOne: number;
  /** Answers with tool calls, and those of them with a broken one. */
  readonly toolAnswers: number;
  readonly badToolAnswers: number;
  /** Milliseconds to the first token, in the buckets of `LATENCY`. */
  readonly latency: BucketCounts;
  /** Tokens a second, in the buckets of `THROUGHPUT`. */
  readonly throughput: BucketCounts;
}

export interface ReportedCooldown {
  readonly leftMs: number;
  /** Cool-downs since the last success. */
  readonly round: number;
  /** Failures in a row that began it. */
  readonly failures: number;
}

/** What a process learnt of a site since its report before. */
export interface HealthReport {
  readonly site: string;
  /** The account that it holds for; null = for all. */
  readonly account: string | null;
  /** A call has succeeded: failures from before it no longer count. */
  readonly hasSucceeded: boolean;
  /** Failures after the last success. */
  readonly failures: readonly FailureCount[];
  /** Set if a cool-down began. */
  readonly cooldown: ReportedCooldown | null;
  /** A cool-down was ended by a call that was answered. */
  readonly isBack: boolean;
  /** What is left of a rate limit of the provider; 0 = none began. */
  readonly pauseMs: number;
  /** What is left of a retry-after of another failure; 0 = none began. */
  readonly deferralMs: number;
  readonly measured: MeasuredCalls | null;
}

export interface RoutingNews {
  readonly health: readonly HealthReport[];
  /** Keys of conversations whose pin has moved to another site: copies of it are out of date. */
  readonly movedPins: readonly string[];
}

export interface NewsExchange {
  /** Id of the gateway: gateways that have lately exchanged news are counted. */
  readonly gatewayId: string;
  /** Id of the serving process: it does not get its own news. */
  readonly processId: string;
  /** Where the last exchange has ended; null = the news of the last minutes are wanted too. */
  readonly after: string | null;
  readonly news: RoutingNews;
}

export interface ReceivedNews extends RoutingNews {
  /** How long ago it was given, by the clock of the store, milliseconds. */
  readonly ageMs: number;
}

export interface ExchangedNews {
  /** Position to give in the next exchange. */
  readonly position: string;
  /** In the order in which it was given. */
  readonly received: readonly ReceivedNews[];
  /** Gateways that have exchanged news in the last seconds, this one included. */
  readonly gateways: number;
}

/**
 * What routing remembers beyond one process. Arguments and results are plain data: a memory may be in another process.
 * Methods reject if the store does not answer.
 */
export interface RoutingMemory {
  findPin(key: string): Promise<Pin | undefined>;
  /** Sets or renews a pin. It ends after `idleMs`. */
  setPin(key: string, pin: Pin, idleMs: number): Promise<void>;
  /** Gives the news of a process and gets those of the others. */
  exchange(given: NewsExchange): Promise<ExchangedNews>;
  /**
   * Takes the right to probe a place (a site, or a site for one account), for `forMs` at most. False while another
   * process has it.
   */
  takeProbe(place: string, processId: string, forMs: number): Promise<boolean>;
  /** Gives the right back after `keepMs`: no process probes the place before. Without the right it has no effect. */
  endProbe(place: string, processId: string, keepMs: number): Promise<void>;
}

/** How old news may be that a new process still gets, milliseconds. Longer than nearly every cool-down. */
export const NEWS_LIFETIME_MS = 300_000;

/** Entries of news that one exchange brings at most; the rest follows with the next. */
export const MAX_RECEIVED_NEWS = 500;

/** A gateway counts until this time after its last exchange, milliseconds. */
export const GATEWAY_COUNTS_MS = 10_000;
