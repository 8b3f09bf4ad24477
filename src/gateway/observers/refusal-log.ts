import type { GatewayError } from '../../ir/errors.ts';
import { RecentMap } from '../../kit/collections/recent-map.ts';
import { boundedText } from '../../kit/json/bounded-json.ts';
import type { Clock } from '../../kit/time/clock.ts';
import type { KeyOwner, RefusedRequest, RefusedRequests } from '../../ports/generations/refused-requests.ts';
import { isRefusal, type Refusal, type Refusals } from '../record/refused-row.ts';

export interface RefusalLogOptions {
  readonly store: Pick<RefusedRequests, 'add' | 'ownerOfDeleted'>;
  readonly clock: Clock;
  readonly counts: RefusalCounts;
}

/** Counts refused requests. */
export interface RefusalCounts {
  noteRefused(error: GatewayError): void;
  /** Requests that the row of another one stands for, or none. */
  noteWithoutRow(requests: number): void;
}

/** How many rows there may be: so many at once, and then one each so many milliseconds. */
interface RowRate {
  readonly burst: number;
  readonly everyMs: number;
}

/** Rows of one key that is refused for one reason. */
const ROWS_OF_KEY: RowRate = { burst: 10, everyMs: 10_000 };

/** Rows of all keys. */
const ROWS_IN_ALL: RowRate = { burst: 100, everyMs: 500 };

/** Questions to the database whether a key that is not valid was deleted: anyone can send any number of them. */
const LOOKUPS: RowRate = { burst: 20, everyMs: 500 };

/** Requests that are turned away under overload before they are read: of these one a second gets a row. */
const OVERLOADED: RowRate = { burst: 1, everyMs: 1_000 };

/** Keys and reasons that are told apart; of further ones only the number is known. */
const MAX_GROUPS = 1_000;

/** Rows that wait while they cannot be stored. */
const MAX_WAITING = 1_000;

const FLUSH_MS = 1_000;

/** Keys of which it is known whether they were deleted, and for how long, milliseconds. */
const KNOWN_KEYS = 1_000;
const KNOWN_MS = 60_000;

const MAX_MESSAGE_CHARACTERS = 300;

/** Refused requests of one key for one reason since the last row. */
interface Group {
  readonly rate: TokenBucket;
  count: number;
  /** The first of them: its row stands for all. */
  first: RefusedRequest | undefined;
}

/**
 * Keeps rows of refused requests: all of them while there are few, and samples of a flood. A row says how many requests
 * it stands for, so that their number is right. Costs nothing while no request is refused.
 */
export class RefusalLog implements Refusals {
  readonly #options: RefusalLogOptions;
  readonly #all: TokenBucket;
  readonly #lookups: TokenBucket;
  readonly #overloaded: TokenBucket;
  /** By key, status and type of error. */
  readonly #groups = new Map<string, Group>();
  readonly #deleted = new RecentMap<string, { readonly owner: KeyOwner | undefined; readonly atMs: number }>(
    KNOWN_KEYS,
  );
  #waiting: RefusedRequest[] = [];
  #timer: NodeJS.Timeout | undefined;
  #storing: Promise<void> = Promise.resolve();

  constructor(options: RefusalLogOptions) {
    this.#options = options;
    const now = () => options.clock.monotonic();
    this.#all = new TokenBucket(ROWS_IN_ALL, now);
    this.#lookups = new TokenBucket(LOOKUPS, now);
    this.#overloaded = new TokenBucket(OVERLOADED, now);
  }

  note(refusal: Refusal, error: unknown): void {
    if (!isRefusal(error)) return;
    const { counts } = this.#options;
    counts.noteRefused(error);
    const group = this.#groupOf(`${refusal.scopes.key} ${error.status} ${error.row.errorType}`);
    if (group === undefined) {
      counts.noteWithoutRow(1);
      return;
    }
    group.count++;
    group.first ??= this.#requestOf(refusal, error);
    if (this.#mayHaveRow(group)) this.#keep(group, group.first);
    this.#timer ??= setInterval(() => this.#flush(), FLUSH_MS).unref();
  }

  /**
   * Notes a request with a key that is not valid, if the key was deleted. `refusalOf` gets the owner of the key.
   */
  noteKey(keyHash: string, refusalOf: (owner: KeyOwner) => Refusal, error: unknown): void {
    const { clock, store } = this.#options;
    const now = clock.monotonic();
    const known = this.#deleted.get(keyHash);
    if (known !== undefined && now - known.atMs < KNOWN_MS) {
      if (known.owner !== undefined) this.note(refusalOf(known.owner), error);
      return;
    }
    if (!this.#lookups.take()) return;
    store.ownerOfDeleted(keyHash).then(
      (owner) => {
        this.#deleted.set(keyHash, { owner, atMs: now });
        if (owner !== undefined) this.note(refusalOf(owner), error);
      },
      // The database does not answer: then it is not known.
      () => {},
    );
  }

  /** Whether a request that is turned away under overload may have a row. */
  takeOverloaded(): boolean {
    return this.#overloaded.take();
  }

  /** Stores everything that waits. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    for (const group of this.#groups.values()) {
      if (group.first !== undefined) this.#keep(group, group.first);
    }
    await this.#storing;
    await this.#store();
  }

  #groupOf(name: string): Group | undefined {
    const known = this.#groups.get(name);
    if (known !== undefined || this.#groups.size >= MAX_GROUPS) return known;
    const { clock } = this.#options;
    const rate = new TokenBucket(ROWS_OF_KEY, () => clock.monotonic());
    const group: Group = { rate, count: 0, first: undefined };
    this.#groups.set(name, group);
    return group;
  }

  /** The limit of the key is asked first: what it refuses takes nothing from the others. */
  #mayHaveRow({ rate }: Group): boolean {
    return rate.has() && this.#all.take() && rate.take();
  }

  #requestOf({ id, scopes, row: rowOf }: Refusal, error: GatewayError): RefusedRequest {
    const row = rowOf();
    const { account, workspace, key } = scopes;
    row.error = {
      status: error.status,
      type: error.row.errorType,
      message: boundedText(error.message, MAX_MESSAGE_CHARACTERS),
    };
    return { id, scopes: { account, workspace, key }, refusedAtMs: this.#options.clock.now(), row };
  }

  #keep(group: Group, first: RefusedRequest): void {
    first.row.refused_requests = group.count;
    this.#waiting.push(first);
    this.#options.counts.noteWithoutRow(group.count - 1);
    group.count = 0;
    group.first = undefined;
  }

  #flush(): void {
    for (const [name, group] of this.#groups) {
      if (group.first !== undefined) {
        if (this.#mayHaveRow(group)) this.#keep(group, group.first);
      } else if (group.rate.isFull()) this.#groups.delete(name);
    }
    if (this.#groups.size === 0 && this.#waiting.length === 0) {
      clearInterval(this.#timer);
      this.#timer = undefined;
    }
    this.#storing = this.#storing.then(() => this.#store());
  }

  /** Rows that cannot be stored wait, as many as there is room for. Never rejects. */
  async #store(): Promise<void> {
    const rows = this.#waiting;
    if (rows.length === 0) return;
    this.#waiting = [];
    try {
      await this.#options.store.add(rows);
    } catch {
      const all = [...rows, ...this.#waiting];
      this.#waiting = all.slice(-MAX_WAITING);
      for (const { row } of all.slice(0, -MAX_WAITING)) {
        this.#options.counts.noteWithoutRow(row.refused_requests ?? 1);
      }
    }
  }
}

/** Tokens that come back with time. */
class TokenBucket {
  readonly #rate: RowRate;
  readonly #now: () => number;
  #tokens: number;
  #atMs: number;

  constructor(rate: RowRate, now: () => number) {
    this.#rate = rate;
    this.#now = now;
    this.#tokens = rate.burst;
    this.#atMs = now();
  }

  has(): boolean {
    this.#refill();
    return this.#tokens >= 1;
  }

  isFull(): boolean {
    this.#refill();
    return this.#tokens >= this.#rate.burst;
  }

  take(): boolean {
    if (!this.has()) return false;
    this.#tokens--;
    return true;
  }

  #refill(): void {
    const now = this.#now();
    const { burst, everyMs } = this.#rate;
    this.#tokens = Math.min(burst, this.#tokens + (now - this.#atMs) / everyMs);
    this.#atMs = now;
  }
}
