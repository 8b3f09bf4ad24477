import { timingSafeEqual } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { RecentMap } from '../../kit/collections/recent-map.ts';
import type { Clock } from '../../kit/time/clock.ts';
import type { KeyOwner } from '../../ports/generations/refused-requests.ts';
import { memberScopeId } from '../../ports/money/ledger.ts';
import type { Change } from '../../ports/shared/changes.ts';
import type { Caller } from '../../ports/tenancy/caller.ts';
import {
  type AppliedGuardrail,
  type Guardrail,
  type GuardrailStore,
  NO_GUARDRAILS,
} from '../../ports/tenancy/guardrails.ts';
import type { Budget, Key, Tenancy, Workspace } from '../../ports/tenancy/tenancy.ts';
import { ConfirmedCache } from '../confirmed-cache.ts';
import type { Freshness } from '../freshness.ts';
import { appliedGuardrails } from '../guardrails/applied-guardrails.ts';
import { hashSecret } from './hash-secret.ts';
import { limitsOf } from './limits.ts';

/** How long secrets stay in memory, milliseconds. */
const SECRETS_MS = 5_000;

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

/** A finished or pending read that several callers share. */
interface SharedRead<T> {
  readonly facts: Promise<T>;
  readonly readAtMs: number;
  /** Value of `#changes` when the read began. */
  readonly changes: number;
}

/** Pending reads, by the id that is read. */
type SharedReads<T> = RecentMap<string, SharedRead<T>>;

/** The part of the storage of keys and workspaces that callers are read with. */
type TenancyReads = Pick<Tenancy, 'findKey' | 'findWorkspaceById' | 'listBudgets'>;

/** The part of the store of guardrails that callers are read with. */
type GuardrailReads = Pick<GuardrailStore, 'listAll' | 'assignmentsOf'>;

/**
 * Finds the caller of a secret: key, workspace, limits and guardrails. Callers are cached until something about them
 * changes; unknown secrets are not, so that guessing cannot evict known keys.
 */
export class CallerDirectory {
  readonly #tenancy: TenancyReads;
  readonly #clock: Clock;
  readonly #freshness: Freshness;
  /** By the hash of the secret. */
  readonly #known: ConfirmedCache<CachedCaller>;
  readonly #guardrails: GuardrailReads;
  /** By workspace; undefined if it was deleted. */
  readonly #workspaces: SharedReads<WorkspaceFacts | undefined> = new RecentMap(CACHE_CALLERS);
  /** All guardrails of an account, by account. */
  readonly #guardrailsOf: SharedReads<readonly Guardrail[]> = new RecentMap(CACHE_CALLERS);
  /** Callers by secret, for some seconds: hashing the secret would cost more than the rest of a lookup. */
  readonly #recent = new Map<string, CachedCaller>();
  #recentSinceMs = 0;
  /** Counts changes, so that a read that began before a change is not cached after it. */
  #changes = 0;

  constructor(tenancy: TenancyReads, guardrails: GuardrailReads, clock: Clock, freshness: Freshness) {
    this.#tenancy = tenancy;
    this.#guardrails = guardrails;
    this.#clock = clock;
    this.#freshness = freshness;
    this.#known = new ConfirmedCache(CACHE_CALLERS, freshness);
  }

  /** The caller of a secret; undefined if the key is unknown, disabled, deleted or expired. */
  find(secret: string): Caller | undefined | Promise<Caller | undefined> {
    const recent = this.#recent.get(secret);
    if (recent !== undefined && this.#freshness.isCurrent(recent.readAtMs))
      return this.#usable(recent.caller);
    const hash = hashSecret(secret);
    const known = this.#known.current(hash);
    if (known === undefined) {
      return this.#confirmedOrRead(hash).then((caller) => this.#usable(caller));
    }
    this.#keepRecent(secret, known);
    return this.#usable(known.caller);
  }

  /** The key of a secret that `find` has just not found. Its owner is known if it is disabled or has expired. */
  refusedKey(secret: string): { readonly hash: string; readonly owner: KeyOwner | undefined } {
    const hash = hashSecret(secret);
    const known = this.#known.current(hash)?.caller;
    return { hash, owner: known && { accountId: known.accountId, workspaceId: known.workspaceId } };
  }

  /** The caller of a key, by the hash of its secret; undefined as for `find`. */
  async findByHash(hash: string): Promise<Caller | undefined> {
    return this.#usable(this.#known.current(hash)?.caller ?? (await this.#confirmedOrRead(hash)));
  }

  /** The caller behind a key that is stored nowhere, such as that of a classifier; undefined without its workspace. */
  async behind(key: Key): Promise<Caller | undefined> {
    const [facts, guardrails] = await Promise.all([
      this.#workspaceOf(key).facts,
      this.#guardrailsOfAccount(key).facts,
    ]);
    return facts && callerOf(key, facts, await this.#appliedTo(key, guardrails));
  }

  /** Drops all secrets at once, every SECRETS_MS or when the map is full. */
  #keepRecent(secret: string, known: CachedCaller): void {
    const now = this.#clock.monotonic();
    if (now - this.#recentSinceMs >= SECRETS_MS || this.#recent.size >= CACHE_CALLERS) {
      this.#recent.clear();
      this.#recentSinceMs = now;
    }
    // A copy: the secret is a slice of the request's head and would keep all of it in memory.
    this.#recent.set(Buffer.from(secret, 'latin1').toString('latin1'), known);
  }

  #usable(caller: Caller | undefined): Caller | undefined {
    return caller !== undefined && this.#isUsable(caller.key) ? caller : undefined;
  }

  /** Drops the cached callers that a change concerns. */
  forget(change: Change): void {
    const { kind } = change;
    if (kind === 'credentials' || kind === 'providers') return;
    if (kind === 'imported-usage' || kind === 'classifications') return;
    this.#changes++;
    this.#recent.clear();
    if (change.kind === 'anything') this.#known.doubtAll();
    else if (change.kind === 'key') this.#known.forget(change.hash);
    else {
      this.#known.forgetWhere(({ caller }) => isConcerned(caller, change));
    }
  }

  /** Reads callers before they call, so that they are known when the database does not answer. */
  async preload(hashes: readonly string[]): Promise<void> {
    for (const hash of hashes) await this.#read(hash);
  }

  /** For a caller whose cached value, if there is one, may have been changed by other processes. */
  async #confirmedOrRead(hash: string): Promise<Caller | undefined> {
    const confirming = this.#known.confirmed(hash);
    const known = confirming && (await confirming);
    return known === undefined ? this.#read(hash) : known.caller;
  }

  /** Reads a caller. If that fails, the one from before changes were missed is used while it is trusted. */
  async #read(hash: string): Promise<Caller | undefined> {
    try {
      return await this.#readStored(hash);
    } catch (error) {
      const doubted = this.#known.doubted(hash);
      if (doubted === undefined) throw error;
      return doubted.caller;
    }
  }

  async #readStored(hash: string): Promise<Caller | undefined> {
    const before = this.#changes;
    const readAtMs = this.#clock.monotonic();
    const key = await this.#tenancy.findKey(hash);
    if (key === undefined || !sameHash(key.hash, hash)) {
      this.#known.answered(hash);
      if (before === this.#changes) this.#known.drop(hash);
      return undefined;
    }
    const reading = this.#workspaceOf(key);
    const guarding = this.#guardrailsOfAccount(key);
    const [facts, guardrails] = await Promise.all([reading.facts, guarding.facts]);
    const caller = facts && callerOf(key, facts, await this.#appliedTo(key, guardrails));
    const isOvertaken = before !== this.#changes;
    // It is not cached then: a usable caller from before stays known for the case that the next read fails.
    if (!isOvertaken || this.#usable(caller) === undefined) this.#known.answered(hash);
    if (isOvertaken) return caller;
    if (caller === undefined) this.#known.drop(hash);
    else this.#known.set(hash, { caller, readAtMs: Math.min(readAtMs, reading.readAtMs, guarding.readAtMs) });
    return caller;
  }

  #workspaceOf({ accountId, workspaceId }: Key): SharedRead<WorkspaceFacts | undefined> {
    return this.#shared(this.#workspaces, workspaceId, () => this.#readWorkspace(accountId, workspaceId));
  }

  #guardrailsOfAccount({ accountId }: Key): SharedRead<readonly Guardrail[]> {
    return this.#shared(this.#guardrailsOf, accountId, async (last) =>
      withKnown(await this.#guardrails.listAll(accountId), (await last) ?? []),
    );
  }

  /** Reads once for all callers that need it while the read is current. `read` gets the last result. */
  #shared<T>(
    known: SharedReads<T>,
    id: string,
    read: (last: Promise<T> | undefined) => Promise<T>,
  ): SharedRead<T> {
    const last = known.get(id);
    if (last !== undefined && last.changes === this.#changes && this.#freshness.isCurrent(last.readAtMs))
      return last;
    const facts = read(last?.facts);
    const reading = { facts, readAtMs: this.#clock.monotonic(), changes: this.#changes };
    known.set(id, reading);
    // Its callers receive the failure; the next one reads again.
    facts.catch(() => known.delete(id));
    return reading;
  }

  /** Without guardrails in the account, assignments are not read. */
  async #appliedTo(key: Key, guardrails: readonly Guardrail[]): Promise<readonly AppliedGuardrail[]> {
    if (guardrails.length === 0) return NO_GUARDRAILS;
    const subjects = { key: key.hash, member: key.creatorUserId };
    return appliedGuardrails(key, guardrails, await this.#guardrails.assignmentsOf(key.accountId, subjects));
  }

  async #readWorkspace(accountId: string, workspaceId: string): Promise<WorkspaceFacts | undefined> {
    const [workspace, budgets] = await Promise.all([
      this.#tenancy.findWorkspaceById(accountId, workspaceId),
      this.#tenancy.listBudgets(workspaceId),
    ]);
    return workspace && { workspace, budgets };
  }

  #isUsable({ disabled, ownerState = 'active', expiresAtMs }: Key): boolean {
    if (disabled || ownerState !== 'active') return false;
    return expiresAtMs === null || expiresAtMs > this.#clock.now();
  }
}

function isConcerned(
  { workspaceId, accountId, key }: Caller,
  change: Extract<Change, { kind: 'workspace' | 'member' | 'guardrails' }>,
): boolean {
  if (change.kind === 'workspace') return workspaceId === change.id;
  return change.kind === 'member' ? key.creatorUserId === change.id : accountId === change.accountId;
}

function callerOf(
  key: Key,
  { workspace, budgets }: WorkspaceFacts,
  guardrails: readonly AppliedGuardrail[],
): Caller {
  const { accountId, workspaceId, creatorUserId } = key;
  const { member, ...limits } = limitsOf(key, workspace, budgets, guardrails);
  const scopes = { key: key.hash, workspace: workspaceId, account: accountId };
  // Without a member, or a limit of one, the ledger counts nothing for members.
  const isCounted = creatorUserId !== null && member !== undefined;
  return {
    key,
    accountId,
    workspaceId,
    workspace,
    limits: isCounted ? { ...limits, member } : limits,
    scopes: isCounted ? { ...scopes, member: memberScopeId(accountId, creatorUserId) } : scopes,
    guardrails,
  };
}

function sameHash(stored: string, computed: string): boolean {
  const left = Buffer.from(stored, 'latin1');
  const right = Buffer.from(computed, 'latin1');
  return left.length === right.length && timingSafeEqual(left, right);
}

/** Guardrails as they were read, but the known objects of those that are equal: filters are compiled per object. */
function withKnown(read: readonly Guardrail[], known: readonly Guardrail[]): readonly Guardrail[] {
  const byId = new Map(known.map((guardrail) => [guardrail.id, guardrail]));
  return read.map((guardrail) => {
    const last = byId.get(guardrail.id);
    return last !== undefined && isDeepStrictEqual(last, guardrail) ? last : guardrail;
  });
}
