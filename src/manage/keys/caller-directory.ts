import { timingSafeEqual } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../../kit/time/clock.ts';
import type { Caller } from '../../ports/caller.ts';
import type { Budget, Key, Tenancy, Workspace } from '../../ports/tenancy.ts';
import { hashSecret } from './hash-secret.ts';
import { limitsOf } from './limits.ts';

/** How long a change by another process may go unseen, and how long secrets stay in memory, milliseconds. */
const FRESH_MS = 5_000;

/** How long a cached caller is accepted while the database is unavailable, milliseconds. */
const STALE_MS = 300_000;

const CACHE_CALLERS = 20_000;

interface CachedCaller {
  readonly caller: Caller;
  readonly readAtMs: number;
}

/** A workspace and its budgets, the same for all of its callers. */
interface WorkspaceFacts {
  readonly workspace: Workspace;
  readonly budgets: readonly Budget[];
}

/** A finished or pending read of a workspace; `facts` is undefined if it was deleted. */
interface WorkspaceRead {
  readonly facts: Promise<WorkspaceFacts | undefined>;
  readonly readAtMs: number;
  /** Value of `#changes` when the read began. */
  readonly changes: number;
}

/**
 * Finds the caller of a secret: key, workspace and limits. Callers are cached for a short time; unknown secrets are
 * not, so that guessing cannot evict known keys. Changes made in this process are visible at once.
 */
export class CallerDirectory {
  readonly #tenancy: Tenancy;
  readonly #clock: Clock;
  /** How long a cached caller needs no revalidation, milliseconds. */
  readonly #freshMs: number;
  readonly #known: LRUCache<string, CachedCaller>;
  /** By workspace. */
  readonly #workspaces = new LRUCache<string, WorkspaceRead>({ max: CACHE_CALLERS });
  /** Callers by secret, for some seconds: hashing the secret would cost more than the rest of a lookup. */
  readonly #recent = new Map<string, CachedCaller>();
  #recentSinceMs = 0;
  /** Counts changes, so that a read that began before a change is not cached after it. */
  #changes = 0;

  /** `isShared` false: embedded database, we are the only writer, so cached callers need no revalidation. */
  constructor(tenancy: Tenancy, clock: Clock, isShared: boolean) {
    this.#tenancy = tenancy;
    this.#clock = clock;
    this.#freshMs = isShared ? FRESH_MS : STALE_MS;
    this.#known = new LRUCache({
      max: CACHE_CALLERS,
      ttl: STALE_MS,
      ttlResolution: 0,
      perf: { now: () => clock.monotonic() },
    });
  }

  /** The caller of a secret; undefined if the key is unknown, disabled, deleted or expired. */
  find(secret: string): Caller | undefined | Promise<Caller | undefined> {
    const recent = this.#recent.get(secret);
    if (recent !== undefined && this.#isFresh(recent)) return this.#usable(recent.caller);
    const hash = hashSecret(secret);
    const known = this.#known.get(hash);
    if (known === undefined || !this.#isFresh(known)) {
      return this.#read(hash, known).then((caller) => this.#usable(caller));
    }
    this.#keepRecent(secret, known);
    return this.#usable(known.caller);
  }

  /** Drops all secrets at once, every FRESH_MS or when the map is full. */
  #keepRecent(secret: string, known: CachedCaller): void {
    const now = this.#clock.monotonic();
    if (now - this.#recentSinceMs >= FRESH_MS || this.#recent.size >= CACHE_CALLERS) {
      this.#recent.clear();
      this.#recentSinceMs = now;
    }
    // A copy: the secret is a slice of the request's head and would keep all of it in memory.
    this.#recent.set(Buffer.from(secret, 'latin1').toString('latin1'), known);
  }

  #usable(caller: Caller | undefined): Caller | undefined {
    return caller !== undefined && this.#isUsable(caller.key) ? caller : undefined;
  }

  /** Drops a key from the cache: it was created, changed or deleted. */
  forgetKey(hash: string): void {
    this.#changes++;
    this.#recent.clear();
    this.#known.delete(hash);
  }

  /** Drops the callers of a workspace: it or its budgets were changed. */
  forgetWorkspace(id: string): void {
    this.#changes++;
    this.#recent.clear();
    for (const [hash, { caller }] of [...this.#known.entries()]) {
      if (caller.workspaceId === id) this.#known.delete(hash);
    }
  }

  /** `known`: the stale cache entry, used if the database fails. */
  async #read(hash: string, known: CachedCaller | undefined): Promise<Caller | undefined> {
    const before = this.#changes;
    const readAtMs = this.#clock.monotonic();
    try {
      const key = await this.#tenancy.findKey(hash);
      if (key === undefined || !sameHash(key.hash, hash)) {
        if (before === this.#changes) this.#known.delete(hash);
        return undefined;
      }
      const reading = this.#workspaceOf(key);
      const facts = await reading.facts;
      const caller = facts && callerOf(key, facts);
      if (before !== this.#changes) return caller;
      if (caller === undefined) this.#known.delete(hash);
      else this.#known.set(hash, { caller, readAtMs: Math.min(readAtMs, reading.readAtMs) });
      return caller;
    } catch (error) {
      if (known === undefined || before !== this.#changes) throw error;
      return known.caller;
    }
  }

  #isFresh({ readAtMs }: Pick<CachedCaller, 'readAtMs'>): boolean {
    return this.#clock.monotonic() - readAtMs < this.#freshMs;
  }

  /** Reads a workspace once for all callers that need it while the read is fresh. */
  #workspaceOf({ accountId, workspaceId }: Key): WorkspaceRead {
    const known = this.#workspaces.get(workspaceId);
    if (known !== undefined && known.changes === this.#changes && this.#isFresh(known)) return known;
    const facts = this.#readWorkspace(accountId, workspaceId);
    const reading = { facts, readAtMs: this.#clock.monotonic(), changes: this.#changes };
    this.#workspaces.set(workspaceId, reading);
    // Its callers receive the failure; the next one reads again.
    facts.catch(() => this.#workspaces.delete(workspaceId));
    return reading;
  }

  async #readWorkspace(accountId: string, workspaceId: string): Promise<WorkspaceFacts | undefined> {
    const [workspace, budgets] = await Promise.all([
      this.#tenancy.findWorkspaceById(accountId, workspaceId),
      this.#tenancy.listBudgets(workspaceId),
    ]);
    return workspace && { workspace, budgets };
  }

  #isUsable({ disabled, expiresAtMs }: Key): boolean {
    return !disabled && (expiresAtMs === null || expiresAtMs > this.#clock.now());
  }
}

function callerOf(key: Key, { workspace, budgets }: WorkspaceFacts): Caller {
  const { accountId, workspaceId } = key;
  return {
    key,
    accountId,
    workspaceId,
    workspace,
    limits: limitsOf(key, workspace, budgets),
    scopes: { key: key.hash, workspace: workspaceId, account: accountId },
  };
}

function sameHash(stored: string, computed: string): boolean {
  const left = Buffer.from(stored, 'latin1');
  const right = Buffer.from(computed, 'latin1');
  return left.length === right.length && timingSafeEqual(left, right);
}
