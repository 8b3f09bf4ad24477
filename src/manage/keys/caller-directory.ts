import { timingSafeEqual } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../../kit/ids.ts';
import type { Caller } from '../../ports/caller.ts';
import type { Budget, Key, Tenancy, Workspace } from '../../ports/tenancy.ts';
import { limitsOf } from '../workspaces/limits.ts';
import { hashSecret } from './hash-secret.ts';

/** How long a change by another process may go unseen, milliseconds; and how long secrets stay in memory. */
const FRESH_MS = 5_000;

/** How long a known caller is let in while nobody can be asked about changes, milliseconds. */
const STALE_MS = 300_000;

const CACHE_CALLERS = 20_000;

interface Known {
  readonly caller: Caller;
  readonly readAtMs: number;
}

/** A workspace and its budgets, which all of its callers have in common. */
interface Shared {
  readonly workspace: Workspace;
  readonly budgets: readonly Budget[];
}

/** What was read of a workspace, or is being read; undefined when it was deleted. */
interface SharedReading {
  readonly shared: Promise<Shared | undefined>;
  readonly readAtMs: number;
  /** As many changes had been made then. */
  readonly changes: number;
}

/**
 * Finds callers by their secrets: the key, its workspace and what both may spend. Whoever was found is remembered for a
 * short time; unknown secrets are not, so that guessing cannot push known keys out. Changes made in this process show at
 * once.
 */
export class CallerDirectory {
  readonly #tenancy: Tenancy;
  readonly #clock: Clock;
  /** How long what was read of a caller holds unless we hear of a change, milliseconds. */
  readonly #holdsMs: number;
  readonly #known: LRUCache<string, Known>;
  /** By workspace. */
  readonly #shared = new LRUCache<string, SharedReading>({ max: CACHE_CALLERS });
  /** Who showed which secret in the last moments: hashing it again would cost more than all else here. */
  readonly #recent = new Map<string, Known>();
  #recentSinceMs = 0;
  /** Counts changes, so that what was read before one is not remembered after it. */
  #changes = 0;

  /** Where nobody else can change anything (`isShared` is false), nobody has to be asked for changes. */
  constructor(tenancy: Tenancy, clock: Clock, isShared: boolean) {
    this.#tenancy = tenancy;
    this.#clock = clock;
    this.#holdsMs = isShared ? FRESH_MS : STALE_MS;
    this.#known = new LRUCache({
      max: CACHE_CALLERS,
      ttl: STALE_MS,
      ttlResolution: 0,
      perf: { now: () => clock.monotonic() },
    });
  }

  /** Whoever has a secret; undefined for a key that is unknown, disabled, deleted or expired. */
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

  /** Secrets stay in memory for as long as callers are fresh, and not longer than it takes others to come. */
  #keepRecent(secret: string, known: Known): void {
    const now = this.#clock.monotonic();
    if (now - this.#recentSinceMs >= FRESH_MS || this.#recent.size >= CACHE_CALLERS) {
      this.#recent.clear();
      this.#recentSinceMs = now;
    }
    // A copy: the secret is a piece of a head, and would keep all of it.
    this.#recent.set(Buffer.from(secret, 'latin1').toString('latin1'), known);
  }

  #usable(caller: Caller | undefined): Caller | undefined {
    return caller !== undefined && this.#isUsable(caller.key) ? caller : undefined;
  }

  /** Forgets what is remembered of a key, because it was made, changed or deleted. */
  forgetKey(hash: string): void {
    this.#changes++;
    this.#recent.clear();
    this.#known.delete(hash);
  }

  /** Forgets the callers of a workspace, because it or its budgets were changed. */
  forgetWorkspace(id: string): void {
    this.#changes++;
    this.#recent.clear();
    for (const [hash, { caller }] of [...this.#known.entries()]) {
      if (caller.workspaceId === id) this.#known.delete(hash);
    }
  }

  /** `known` is what was remembered of the caller: good enough when the answer is an error. */
  async #read(hash: string, known: Known | undefined): Promise<Caller | undefined> {
    const before = this.#changes;
    const readAtMs = this.#clock.monotonic();
    try {
      const key = await this.#tenancy.findKey(hash);
      if (key === undefined || !sameHash(key.hash, hash)) {
        if (before === this.#changes) this.#known.delete(hash);
        return undefined;
      }
      const reading = this.#sharedOf(key);
      const shared = await reading.shared;
      const caller = shared && callerOf(key, shared);
      if (before !== this.#changes) return caller;
      if (caller === undefined) this.#known.delete(hash);
      else this.#known.set(hash, { caller, readAtMs: Math.min(readAtMs, reading.readAtMs) });
      return caller;
    } catch (error) {
      if (known === undefined || before !== this.#changes) throw error;
      return known.caller;
    }
  }

  #isFresh({ readAtMs }: Pick<Known, 'readAtMs'>): boolean {
    return this.#clock.monotonic() - readAtMs < this.#holdsMs;
  }

  /** A workspace has many callers: it is read once for all that come while that is fresh. */
  #sharedOf({ accountId, workspaceId }: Key): SharedReading {
    const known = this.#shared.get(workspaceId);
    if (known !== undefined && known.changes === this.#changes && this.#isFresh(known)) return known;
    const shared = this.#readShared(accountId, workspaceId);
    const reading = { shared, readAtMs: this.#clock.monotonic(), changes: this.#changes };
    this.#shared.set(workspaceId, reading);
    // Whoever waits for it hears of a failure; the next tries again.
    shared.catch(() => this.#shared.delete(workspaceId));
    return reading;
  }

  async #readShared(accountId: string, workspaceId: string): Promise<Shared | undefined> {
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

function callerOf(key: Key, { workspace, budgets }: Shared): Caller {
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
