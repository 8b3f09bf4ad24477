import { mayCallAgain } from '../../net/transport/may-call-again.ts';
import type { CallerHealth } from '../../routing/health/health.ts';
import type { HealthTicket } from '../../routing/health/health-ticket.ts';
import { type RankedCandidate, siteOf } from '../../routing/rules/candidate.ts';
import type { UpstreamFailure } from '../../upstream/upstream.ts';
import type { AttemptLimits } from '../request/settings.ts';

const NONE_CALLED: readonly RankedCandidate[] = [];

/** The calls of one leg so far, and whether the limits allow another one, whatever the health of its endpoint. */
export class CallCount {
  readonly #limits: AttemptLimits;
  #called: readonly RankedCandidate[] = NONE_CALLED;
  #byokCalls = 0;

  constructor(limits: AttemptLimits) {
    this.#limits = limits;
  }

  get isEmpty(): boolean {
    return this.#called.length === 0;
  }

  /** Calls with the caller's own credentials leave `perModel` calls of the request for the gateway's. */
  allows(candidate: RankedCandidate): boolean {
    const { perRequest, perModel, retries } = this.#limits;
    if (this.#called.length > 0 && retries !== undefined && retries.left <= 0) return false;
    const isOwn = candidate.access.kind === 'byok' && !candidate.access.credential.isFallback;
    const isTooMany = isOwn && this.#byokCalls >= Math.max(1, perRequest - perModel);
    if (this.#called.length >= perRequest || isTooMany) return false;
    if (this.#called.length < perModel) return true;
    const sites = this.#sitesOf(candidate.model);
    return sites.has(candidate.endpoint.site) || sites.size < perModel;
  }

  /** Whether a candidate that was just called may be called again: then each call of its model counts. */
  allowsAgain(candidate: RankedCandidate): boolean {
    const ofModel = this.#called.filter(({ model }) => model.id === candidate.model.id);
    return ofModel.length < this.#limits.perModel && this.allows(candidate);
  }

  note(candidate: RankedCandidate): void {
    const { retries } = this.#limits;
    if (this.#called.length > 0 && retries !== undefined) retries.left -= 1;
    if (candidate.access.kind === 'byok') this.#byokCalls++;
    // Appending would reserve room for many: nearly always there is one.
    this.#called = this.#called.length === 0 ? [candidate] : [...this.#called, candidate];
  }

  /** Endpoints of a model that were called, with any credential. */
  #sitesOf({ id }: RankedCandidate['model']): Set<string> {
    const sites = new Set<string>();
    for (const { model, endpoint } of this.#called) if (model.id === id) sites.add(endpoint.site);
    return sites;
  }
}

type Fits = (candidate: RankedCandidate) => boolean;

/** Why a finished answer has no content. */
export type NoContent = 'refusal' | 'empty';

export interface QueueRules {
  readonly health: CallerHealth;
  readonly limits: AttemptLimits;
  readonly allowsFallbacks: boolean;
  /** True if the caller has left: no further call is made. */
  isAbandoned(): boolean;
}

/** A candidate that may be called now. Its ticket must be concluded. */
export interface NextCandidate {
  readonly candidate: RankedCandidate;
  readonly ticket: HealthTicket;
  /** True if the same candidate was just called over a connection that was already closed. */
  readonly isAgain: boolean;
}

/**
 * The candidates of one request in calling order, as far as their health and the limits allow: the one place that
 * decides which call follows another. Those that are cooling down are skipped; one of them is probed if no other is
 * left.
 */
export class CandidateQueue {
  readonly #candidates: readonly RankedCandidate[];
  readonly #rules: QueueRules;
  readonly #passedOver: RankedCandidate[] = [];
  readonly #calls: CallCount;
  /** Endpoints that may still be called: bounded once a time limit has passed. */
  #further = Number.POSITIVE_INFINITY;
  #next = 0;
  #hasProbed = false;

  constructor(candidates: readonly RankedCandidate[], rules: QueueRules) {
    this.#candidates = candidates;
    this.#rules = rules;
    this.#calls = new CallCount(rules.limits);
  }

  /** The next candidate that fits; those that do not are dropped for good. */
  next(fits: Fits): NextCandidate | undefined {
    if (this.#rules.isAbandoned() || this.#further <= 0) return undefined;
    return this.#regular(fits) ?? this.#probe(fits);
  }

  /**
   * The candidate to call after a failure: the same one again if `mayCallAgain` and the limits allow it, else the next
   * one. An upstream that passed a time limit may be working on the request: then one more endpoint at most is called,
   * not counting those that could not be reached.
   */
  afterFailure(failure: UpstreamFailure, failed: RankedCandidate, fits: Fits): NextCandidate | undefined {
    if (failure.lostBy === 'time-limit') {
      this.#further = Math.min(this.#further, this.#rules.allowsFallbacks ? 1 : 0);
    } else if (failure.isStale || failure.isConnection) this.#further += 1;
    return (mayCallAgain(failure) ? this.#again(failed) : undefined) ?? this.next(fits);
  }

  /**
   * The candidate to call after an answer without content. A refusal is the model's own: only another model may do
   * better. An empty answer may be the endpoint's fault.
   */
  afterNoContent(noContent: NoContent, left: RankedCandidate, fits: Fits): NextCandidate | undefined {
    return this.next((each) => (noContent === 'empty' || each.model !== left.model) && fits(each));
  }

  /** Offers the same candidate again. That is another upstream call: undefined if the limits do not allow it. */
  #again(candidate: RankedCandidate): NextCandidate | undefined {
    if (this.#rules.isAbandoned()) return undefined;
    if (!this.#calls.allowsAgain(candidate)) return undefined;
    const allowed = this.#enter(candidate, false);
    return allowed && { ...allowed, isAgain: true };
  }

  #regular(fits: Fits): NextCandidate | undefined {
    for (; this.#next < this.#candidates.length; this.#next++) {
      const candidate = this.#candidates[this.#next];
      if (candidate === undefined || !fits(candidate) || !this.#calls.allows(candidate)) continue;
      const allowed = this.#enter(candidate, false);
      if (allowed === undefined) {
        this.#passedOver.push(candidate);
        continue;
      }
      this.#next++;
      return allowed;
    }
    return undefined;
  }

  /** One probe per request: a request must not fail at one unhealthy site after another. */
  #probe(fits: Fits): NextCandidate | undefined {
    if (this.#hasProbed) return undefined;
    for (const candidate of this.#passedOver) {
      if (!fits(candidate) || !this.#calls.allows(candidate)) continue;
      const allowed = this.#enter(candidate, true);
      if (allowed === undefined) continue;
      this.#hasProbed = true;
      return allowed;
    }
    return undefined;
  }

  #enter(candidate: RankedCandidate, isLastCandidate: boolean): NextCandidate | undefined {
    const site = siteOf(candidate.endpoint, candidate.access);
    const ticket = this.#rules.health.enter(site, { isRetry: !this.#calls.isEmpty, isLastCandidate });
    if (ticket === undefined) return undefined;
    this.#calls.note(candidate);
    this.#further -= 1;
    return { candidate, ticket, isAgain: false };
  }
}
