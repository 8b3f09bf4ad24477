import type { GatewayError } from '../../ir/errors.ts';
import type { LegKind, LegStatus } from '../../ir/leg.ts';
import type { AttemptRecord, TranslationEntry } from '../../ir/metadata.ts';
import type { Bill, Usage } from '../../ir/usage.ts';
import type { HealthTicket } from '../../routing/health/health-ticket.ts';
import type { Candidate } from '../../routing/rules/candidate.ts';
import type { LegWish } from '../../stages/stage.ts';
import { UpstreamFailure } from '../../upstream/upstream.ts';
import { type Plan, planWithoutCandidates } from '../plan/plan.ts';
import type { NoContent } from './candidate-queue.ts';

export interface CallRecord {
  readonly candidate: Candidate;
  /** On the monotonic clock. */
  readonly startedMs: number;
  /** Status of the response; without one, the status that the caller gets. */
  readonly status: number;
  /** Milliseconds to the first content, or to the failure. */
  readonly latencyMs: number;
  /** Milliseconds to the first byte, or to the failure. */
  readonly firstByteMs: number;
  /** Status of the upstream's response; null if it never answered. */
  readonly answered: number | null;
  /** Why it served nothing; undefined if it serves, or was not waited for. */
  readonly failure?: UpstreamFailure | NoContent | undefined;
  /** The span that its upstream was told of. */
  readonly spanId?: string | undefined;
  /** Set if the failure began a cool-down of the endpoint: its length, milliseconds. */
  readonly cooldownMs?: number | undefined;
  /** Set if it served the beginning of an answer that failed. */
  readonly breakOff?: { readonly error: GatewayError | undefined; readonly afterMs: number };
}

export type CallOutcome = {
  readonly [Member in 'startedMs' | 'firstByteMs' | 'answered' | 'failure' | 'spanId']?:
    | CallRecord[Member]
    | undefined;
};

export interface LegEnd {
  readonly status: LegStatus;
  readonly usage: Usage;
  readonly bill: Bill;
  /** Epoch milliseconds: the leg is billed at the prices of this moment. */
  readonly pricedAtMs: number;
  readonly serviceTier: string | undefined;
}

const NO_CALLS: readonly CallRecord[] = [];

/** One model call inside a generation: its plan, its attempts and their outcome. */
export class Leg {
  readonly kind: LegKind;
  /** Number of the call of a server tool that it is for, from 1. */
  readonly toolCall: number | undefined;
  #plan: Plan;
  #calls: readonly CallRecord[] = NO_CALLS;
  lastCalled: Candidate | undefined;
  /** The candidate whose call is open: its upstream may bill what it does until the end of the leg. */
  calling: Candidate | undefined;
  #selected: Candidate | undefined;
  #ticket: HealthTicket | undefined;
  report: readonly TranslationEntry[] = [];
  /** True if its attempts show what their upstreams said when they failed. */
  detailsFailures = false;
  /** Undefined while the leg is open. */
  end: LegEnd | undefined;
  /** Epoch milliseconds; undefined before the leg begins. */
  startedAtMs: number | undefined;
  /** Epoch milliseconds; undefined while the leg is open. */
  endedAtMs: number | undefined;

  constructor(plan: Plan, { kind = 'main', toolCall }: Pick<LegWish, 'kind' | 'toolCall'> = {}) {
    this.#plan = plan;
    this.kind = kind;
    this.toolCall = toolCall;
  }

  get plan(): Plan {
    return this.#plan;
  }

  /** Drops the candidates and the ticket of a leg that has ended, so that long loops do not keep those of every leg. */
  dropPlan(): void {
    this.#plan = planWithoutCandidates(this.#plan.requested);
    this.#ticket = undefined;
  }

  /** Adds an upstream call whose outcome is known. */
  note(
    candidate: Candidate,
    status: number,
    latencyMs: number,
    { startedMs = 0, firstByteMs = latencyMs, answered = status, failure, spanId }: CallOutcome = {},
  ): void {
    const call = { candidate, startedMs, status, latencyMs, firstByteMs, answered, failure, spanId };
    // Appending would reserve room for many: nearly always there is one.
    this.#calls = this.#calls.length === 0 ? [call] : [...this.#calls, call];
  }

  /** Notes that the last call ended without content; another candidate is called next. */
  noteNoContent(noContent: NoContent): void {
    this.#changeLast({ failure: noContent });
  }

  noteCooldown(cooldownMs: number): void {
    this.#changeLast({ cooldownMs });
  }

  /** Notes that the answer of the last call has failed. `nowMs`: on the monotonic clock. */
  noteBreakOff(error: GatewayError | undefined, nowMs: number): void {
    const { startedMs = nowMs } = this.#calls.at(-1) ?? {};
    this.#changeLast({ breakOff: { error, afterMs: nowMs - startedMs } });
  }

  #changeLast(change: Partial<CallRecord>): void {
    const last = this.#calls.at(-1);
    if (last !== undefined) this.#calls = [...this.#calls.slice(0, -1), { ...last, ...change }];
  }

  /** The calls whose outcome is known, in order. */
  get calls(): readonly CallRecord[] {
    return this.#calls;
  }

  /** The attempts as routing metadata lists them. */
  get attempts(): AttemptRecord[] {
    return this.#calls.map(({ candidate, status, failure }) => ({
      provider: candidate.endpoint.provider.name,
      model: candidate.model.id,
      status,
      ...(this.detailsFailures && failure instanceof UpstreamFailure && shownOf(failure)),
    }));
  }

  get selected(): Candidate | undefined {
    return this.#selected;
  }

  /** Health ticket of the serving call; concluded at the end of the answer. */
  get ticket(): HealthTicket | undefined {
    return this.#ticket;
  }

  select(candidate: Candidate, ticket?: HealthTicket): void {
    this.#selected = candidate;
    this.#ticket = ticket;
  }
}

function shownOf({ metadata }: UpstreamFailure): Pick<AttemptRecord, 'provider_name' | 'raw'> {
  const { provider_name, raw } = metadata ?? {};
  return {
    ...(typeof provider_name === 'string' && { provider_name }),
    ...(typeof raw === 'string' && { raw }),
  };
}
