import { timingSafeEqual } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../kit/ids.ts';
import type { Caller } from '../ports/caller.ts';
import type { Key, Tenancy } from '../ports/tenancy.ts';
import { hashSecret } from './hash-secret.ts';
import { limitsOf } from './limits-of.ts';

/** How long a change by another process may go unseen, milliseconds; and how long secrets stay in memory. */
const FRESH_MS = 5_000;

/** How long a known caller is let in while nobody can be asked about changes, milliseconds. */
const STALE_MS = 300_000;

const CACHE_CALLERS = 20_000;

interface Known {
  readonly caller: Caller;
  readonly readAtMs: number;
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
      const caller = key && sameHash(key.hash, hash) ? await this.#callerOf(key) : undefined;
      if (before !== this.#changes) return caller;
      if (caller === undefined) this.#known.delete(hash);
      else this.#known.set(hash, { caller, readAtMs });
      return caller;
    } catch (error) {
      if (known === undefined || before !== this.#changes) throw error;
      return known.caller;
    }
  }

  #isFresh({ readAtMs }: Known): boolean {
    return this.#clock.monotonic() - readAtMs < this.#holdsMs;
  }

  /** Undefined when the workspace was deleted, and the key with it, a moment ago. */
  async #callerOf(key: Key): Promise<Caller | undefined> {
    const { accountId, workspaceId } = key;
    const [workspace, budgets] = await Promise.all([
      this.#tenancy.findWorkspaceById(accountId, workspaceId),
      this.#tenancy.listBudgets(workspaceId),
    ]);
    if (workspace === undefined) return undefined;
    return { key, accountId, workspaceId, workspace, limits: limitsOf(key, workspace, budgets) };
  }

  #isUsable({ disabled, expiresAtMs }: Key): boolean {
    return !disabled && (expiresAtMs === null || expiresAtMs > this.#clock.now());
  }
}

function sameHash(stored: string, computed: string): boolean {
  const left = Buffer.from(stored, 'latin1');
  const right = Buffer.from(computed, 'latin1');
  return left.length === right.length && timingSafeEqual(left, right);
}
