import type { LegKind, LegStatus } from '../../ir/leg.ts';
import type { AttemptRecord, TranslationEntry } from '../../ir/metadata.ts';
import type { Bill, Usage } from '../../ir/usage.ts';
import type { HealthTicket } from '../../routing/health/health-ticket.ts';
import type { Candidate } from '../../routing/rules/candidate.ts';
import type { UpstreamFailure } from '../../upstream/upstream.ts';
import type { Plan } from '../plan/plan.ts';
import type { NoContent } from './candidate-queue.ts';

/** One upstream call, with all that is known of it. */
export interface UpstreamCall {
  readonly candidate: Candidate;
  /** What it answered; where it did not, what that means to the caller. */
  readonly status: number;
  /** Milliseconds to the first content, or to the failure. */
  readonly latencyMs: number;
  /** Milliseconds to the first byte, or to the failure. */
  readonly firstByteMs: number;
  /** Why it served nothing; undefined if it serves, or was not waited for. */
  readonly failure?: UpstreamFailure | NoContent | undefined;
}

/** How a leg ended, and what it came to. */
export interface LegEnd {
  readonly status: LegStatus;
  readonly usage: Usage;
  readonly bill: Bill;
  /** Epoch milliseconds: it is billed at the prices of this moment. */
  readonly pricedAtMs: number;
  /** Tier that the upstream says it served. */
  readonly serviceTier: string | undefined;
}

const NO_CALLS: readonly UpstreamCall[] = [];

/** One model call inside a generation: where it may go, the attempts at it, and what came of them. */
export class Leg {
  readonly kind: LegKind;
  readonly plan: Plan;
  #calls: readonly UpstreamCall[] = NO_CALLS;
  /** The candidate that was called last, whatever came of it. */
  lastCalled: Candidate | undefined;
  #selected: Candidate | undefined;
  #ticket: HealthTicket | undefined;
  /** Translation report of the call that serves. */
  report: readonly TranslationEntry[] = [];
  /** Undefined while it is open. */
  end: LegEnd | undefined;

  constructor(plan: Plan, kind: LegKind = 'main') {
    this.plan = plan;
    this.kind = kind;
  }

  /** Notes an upstream call whose outcome is known. */
  note(
    candidate: Candidate,
    status: number,
    latencyMs: number,
    firstByteMs = latencyMs,
    failure?: UpstreamFailure,
  ): void {
    const call = { candidate, status, latencyMs, firstByteMs, failure };
    // A list that is added to makes room for many: nearly always there is one.
    this.#calls = this.#calls.length === 0 ? [call] : [...this.#calls, call];
  }

  /** The last call ended without content, and another candidate is called. */
  noteNoContent(noContent: NoContent): void {
    const last = this.#calls.at(-1);
    if (last !== undefined) this.#calls = [...this.#calls.slice(0, -1), { ...last, failure: noContent }];
  }

  /** The calls whose outcome is known, in order. */
  get calls(): readonly UpstreamCall[] {
    return this.#calls;
  }

  /** The calls as callers are told of them. */
  get attempts(): AttemptRecord[] {
    return this.#calls.map(({ candidate, status }) => ({
      provider: candidate.endpoint.provider.name,
      model: candidate.model.id,
      status,
    }));
  }

  /** The candidate that serves, once one does. */
  get selected(): Candidate | undefined {
    return this.#selected;
  }

  /** The call that serves; to be concluded when the answer has ended. */
  get ticket(): HealthTicket | undefined {
    return this.#ticket;
  }

  /** Settles on a candidate. */
  select(candidate: Candidate, ticket?: HealthTicket): void {
    this.#selected = candidate;
    this.#ticket = ticket;
  }
}
