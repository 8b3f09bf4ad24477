import type { Credential } from '../../catalog/providers/credential.ts';
import { GatewayError } from '../../ir/errors.ts';
import type { Echo, EventBatch } from '../../ir/events.ts';
import type { GenerationRequest } from '../../ir/request.ts';
import type { ToldSpan } from '../../ir/trace.ts';
import { nextStep } from '../../kit/frames/flow.ts';
import type { HealthTicket } from '../../routing/health/health-ticket.ts';
import type { Candidate } from '../../routing/rules/candidate.ts';
import { type UpstreamCall, UpstreamFailure } from '../../upstream/upstream.ts';
import type { Admission } from '../admission/admission.ts';
import { blameOf, isGatewayLimit } from './blame.ts';
import type { NextCandidate } from './candidate-queue.ts';
import type { CredentialOpener } from './credentials.ts';
import { HeldAnswer, type Opening } from './held-answer.ts';
import type { Leg } from './leg.ts';
import { hashUser, type LegSurroundings } from './leg-dependencies.ts';
import { passedFailure } from './passed-failure.ts';

/** The leg whose candidates are called. */
export interface CallingLeg {
  readonly leg: Leg;
  readonly around: LegSurroundings;
  readonly admission: Pick<Admission, 'paidLimits'>;
  /** Notes a call that has failed: its upstream may bill it all the same. `held`: what there is of an answer. */
  noteFailed(candidate: Candidate, failure: UpstreamFailure, held?: EventBatch): void;
}

/** Calls a candidate and reads until its answer proves usable. Concludes the ticket otherwise. */
export async function openCandidate(
  { request, lane }: Pick<UpstreamCall, 'request' | 'lane'>,
  { candidate, ticket, isAgain }: NextCandidate,
  running: CallingLeg,
  echoes: Echo[],
): Promise<Opening | UpstreamFailure> {
  const { leg, around } = running;
  const { signal, input } = around;
  const { callUpstream, clock, userHashKey } = around.dependencies;
  const { accountId } = input.caller;
  // Callers get no reply of their own of a further leg: its memory is free when it ends.
  const replied = around.isFurther === true ? undefined : input.replied;
  const startedMs = clock.monotonic();
  let firstByteMs: number | undefined;
  let answered: number | null = null;
  let told: ToldSpan | undefined;
  const record = (status: number, failure?: UpstreamFailure) =>
    leg.note(candidate, status, clock.monotonic() - startedMs, {
      startedMs,
      firstByteMs,
      answered,
      failure,
      spanId: told?.spanId,
    });
  if (signal.aborted) {
    ticket.abandoned();
    throw signal.reason;
  }
  const credential = openCredential(candidate, around.state.credentials);
  if (credential instanceof UpstreamFailure) {
    ticket.failed(blameOf(credential));
    return credential;
  }
  leg.lastCalled = candidate;
  leg.calling = candidate;
  told = around.toldTrace?.next();
  try {
    const answer = await callUpstream({
      request,
      endpoint: candidate.endpoint,
      lane,
      paid: running.admission.paidLimits(candidate),
      credential,
      isByok: candidate.access.kind === 'byok',
      betas: input.betas,
      ...(told !== undefined && { trace: told.headers }),
      hashUser: (id) => hashUser(userHashKey, accountId, id),
      accountId,
      ...(replied !== undefined && { replied }),
      signal,
      onRequest: isAgain ? undefined : echoesOf(request, echoes),
    });
    firstByteMs = clock.monotonic() - startedMs;
    answered = answer.status;
    const held = new HeldAnswer(answer.batches[Symbol.asyncIterator](), request.stream || isInParts(request));
    let opening: Opening | GatewayError | undefined;
    while (opening === undefined) {
      const step = nextStep(held.rest);
      opening = held.take(step instanceof Promise ? await step : step);
    }
    if (opening instanceof GatewayError) {
      await held.rest.return?.();
      // An answer that broke off because we aborted it is no failure of its endpoint.
      signal.throwIfAborted();
      if (isGatewayLimit(opening)) throw opening;
      const failure = await passedFailure(asUpstreamFailure(opening), request);
      record(failure.upstreamStatus === 0 ? answer.status : failure.upstreamStatus, failure);
      blame(ticket, failure, leg);
      running.noteFailed(candidate, failure, held.events);
      return failure;
    }
    ticket.firstToken(request.stream ? 'stream' : 'whole');
    record(answer.status);
    leg.report = answer.report;
    return opening;
  } catch (error) {
    if (signal.aborted) {
      giveUp(signal.reason, ticket, record);
      throw error;
    }
    if (!(error instanceof UpstreamFailure)) {
      ticket.abandoned();
      throw error;
    }
    const failure = await passedFailure(error, request);
    if (failure.upstreamStatus !== 0) answered = failure.upstreamStatus;
    // A call without a response is recorded with the status that the caller gets.
    record(failure.upstreamStatus === 0 ? failure.status : failure.upstreamStatus, failure);
    // A connection that was closed while idle says nothing about its endpoint.
    if (failure.isStale) ticket.abandoned();
    else blame(ticket, failure, leg);
    running.noteFailed(candidate, failure);
    return failure;
  }
}

/** Concludes the call that was noted last. */
function blame(ticket: HealthTicket, failure: UpstreamFailure, leg: Leg): void {
  ticket.failed(blameOf(failure));
  if (ticket.cooldownMs !== undefined) leg.noteCooldown(ticket.cooldownMs);
}

/** Vectors that have arrived are kept and charged: no other endpoint makes them again. */
function isInParts({ embedding }: GenerationRequest): boolean {
  return embedding !== undefined;
}

/** Collects the sent requests if the caller asked to see them. */
function echoesOf(
  { echoUpstreamBody, stream }: GenerationRequest,
  echoes: Echo[],
): UpstreamCall['onRequest'] {
  if (!echoUpstreamBody || !stream) return undefined;
  return (sent) => {
    echoes.push({ type: 'debug', upstreamBody: sent });
  };
}

/** The credential for a candidate, or the reason why it cannot be called. */
function openCredential(
  candidate: Candidate,
  credentials: CredentialOpener,
): Credential | undefined | UpstreamFailure {
  try {
    return credentials.open(candidate);
  } catch (error) {
    if (error instanceof UpstreamFailure) return error;
    throw error;
  }
}

/** Status of a call that ended because the caller left: the one that web servers log. */
const CALLER_GONE = 499;

/** Concludes a call that was abandoned. If it took longer than the gateway's deadline, that counts against it. */
function giveUp(reason: unknown, ticket: HealthTicket, record: (status: number) => void): void {
  const isTooSlow = reason instanceof GatewayError && reason.kind === 'deadline';
  record(isTooSlow ? reason.status : CALLER_GONE);
  if (isTooSlow) ticket.failed({ counts: true, isRateLimit: false });
  else ticket.abandoned();
}

function asUpstreamFailure(error: GatewayError): UpstreamFailure {
  return error instanceof UpstreamFailure
    ? error
    : new UpstreamFailure(error.kind, error.message, 0, { metadata: error.metadata, cause: error });
}
