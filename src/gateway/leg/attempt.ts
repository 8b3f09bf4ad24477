import type { Endpoint } from '../../catalog/catalog.ts';
import type { Credential } from '../../catalog/providers/credential.ts';
import { GatewayError } from '../../ir/errors.ts';
import {
  type Event,
  type EventBatch,
  type Failure,
  type Finish,
  hasContent,
  terminalOf,
} from '../../ir/events.ts';
import type { GenerationRequest } from '../../ir/request.ts';
import type { Flow } from '../../kit/frames/flow.ts';
import type { CallerHealth } from '../../routing/health/health.ts';
import type { HealthTicket } from '../../routing/health/health-ticket.ts';
import { type Candidate, siteOf } from '../../routing/rules/candidate.ts';
import { type CallUpstream, type UpstreamCall, UpstreamFailure } from '../../upstream/upstream.ts';
import type { Admission } from '../admission/admission.ts';
import type { AttemptLimits } from '../request/settings.ts';
import { blameOf, isGatewayLimit } from './blame.ts';
import { CandidateQueue, type NextCandidate, type NoContent } from './candidate-queue.ts';
import type { Leg } from './leg.ts';

/** Dependencies of the attempt loop. */
export interface AttemptDependencies {
  readonly callUpstream: CallUpstream;
  /** The credential for a candidate; throws an UpstreamFailure. */
  credentialOf(candidate: Candidate): Credential | undefined;
  readonly health: CallerHealth;
  readonly hashUser: (id: string) => string;
  readonly accountId: string;
  /** Resolves when the reply has been sent. */
  readonly replied: (() => Promise<void>) | undefined;
  readonly betas?: string | undefined;
  readonly signal: AbortSignal;
  readonly limits: AttemptLimits;
  /** The reservation that calls must stay within. */
  readonly admission: Pick<Admission, 'canPay' | 'paidLimits'>;
  /** True if the caller has left, although the current call may go on. */
  isAbandoned(): boolean;
  /** Milliseconds that only grow. */
  monotonic(): number;
}

/**
 * Tries candidate after candidate until one brings content, then forwards its answer. Until then nothing is forwarded:
 * a failure, a refusal or an empty answer moves on to the next candidate. Throws if none is left.
 */
export function attemptCandidates(
  request: GenerationRequest,
  leg: Leg,
  dependencies: AttemptDependencies,
  adapt: AdaptRequest = same,
): Attempts {
  return new Attempts(request, leg, dependencies, adapt);
}

/** The request as an endpoint gets it. */
type AdaptRequest = (request: GenerationRequest, endpoint: Endpoint) => GenerationRequest;

const same: AdaptRequest = (request) => request;

/** One reader pulls it, one step at a time, so it need not be a generator, which costs several promises a step. */
class Attempts implements AsyncIterableIterator<EventBatch, void, undefined>, Flow<EventBatch> {
  readonly #request: GenerationRequest;
  readonly #leg: Leg;
  readonly #dependencies: AttemptDependencies;
  readonly #adapt: AdaptRequest;
  /** The rest of the answer, once a candidate answers. */
  #rest: Flow<EventBatch> | undefined;
  /** True if nothing can be pulled: while the answer is opened, and for good if that fails. */
  #isOver = false;
  /** A polled batch whose failure has to be looked at first: `next` returns it. */
  #held: EventBatch | undefined;
  /** True after `return`. */
  #isLetGo = false;

  constructor(request: GenerationRequest, leg: Leg, dependencies: AttemptDependencies, adapt: AdaptRequest) {
    this.#request = request;
    this.#leg = leg;
    this.#dependencies = dependencies;
    this.#adapt = adapt;
  }

  next(): Promise<IteratorResult<EventBatch, void>> {
    if (this.#isOver) return Promise.resolve(OVER);
    return this.#rest === undefined ? this.#open() : this.#goOn(this.#rest);
  }

  poll(): EventBatch | undefined {
    if (this.#held !== undefined) return undefined;
    const batch = this.#rest?.poll?.();
    if (batch === undefined || this.#request.watch === undefined || failureIn(batch) === undefined)
      return batch;
    this.#held = batch;
    return undefined;
  }

  whenReady(wake: () => void): boolean {
    return this.#held === undefined && (this.#rest?.whenReady?.(wake) ?? false);
  }

  return(): Promise<IteratorResult<EventBatch, void>> {
    this.#isOver = true;
    this.#isLetGo = true;
    this.#held = undefined;
    const closing = this.#rest?.return?.();
    this.#rest = undefined;
    return closing === undefined ? Promise.resolve(OVER) : closing.then(over);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async #goOn(rest: Flow<EventBatch>): Promise<IteratorResult<EventBatch, void>> {
    try {
      const held = this.#held;
      this.#held = undefined;
      const step: IteratorResult<EventBatch, unknown> =
        held === undefined ? await rest.next() : { done: false, value: held };
      if (step.done !== true) {
        if (this.#isLeft()) throw this.#dependencies.signal.reason;
        const request = this.#request;
        return request.watch === undefined
          ? step
          : { done: false, value: await passedBatch(step.value, request) };
      }
    } catch (error) {
      await this.return();
      throw error;
    }
    return await this.return();
  }

  /** After the caller has left, a failure has no reader: the answer just ends. */
  #isLeft(): boolean {
    const { signal } = this.#dependencies;
    return signal.aborted && !(signal.reason instanceof GatewayError);
  }

  /** The beginning of the first usable answer. */
  async #open(): Promise<IteratorResult<EventBatch, void>> {
    const request = this.#request;
    const leg = this.#leg;
    const dependencies = this.#dependencies;
    const { admission } = dependencies;
    this.#isOver = true;
    const failures: UpstreamFailure[] = [];
    const echoes: Event[] = [];
    const queue = new CandidateQueue(leg.plan.candidates, dependencies);
    let isShort = false;
    const canPay = (candidate: Candidate) => {
      const isPaid = admission.canPay(candidate);
      if (!isPaid) isShort = true;
      return isPaid;
    };
    for (let current = queue.next(canPay); current !== undefined; ) {
      const { candidate, ticket } = current;
      if (ticket.needsRight && !(await ticket.takeProbe())) {
        current = queue.next(canPay);
        continue;
      }
      let opening: Opening | UpstreamFailure;
      try {
        const sent = this.#adapt(request, candidate.endpoint);
        const lane = sent === request ? candidate.lane : 'translate';
        opening = await openCandidate({ request: sent, lane }, current, leg, dependencies, echoes);
      } catch (error) {
        return this.#fail(error, echoes);
      }
      if (opening instanceof UpstreamFailure) {
        failures.push(opening);
        current = queue.afterFailure(opening, candidate, canPay);
        continue;
      }
      const { noContent } = opening;
      const other = noContent && queue.afterNoContent(noContent, candidate, canPay);
      if (noContent !== undefined && other !== undefined) {
        leg.noteNoContent(noContent);
        leave(ticket, opening, request);
        await opening.rest.return?.();
        current = other;
        continue;
      }
      leg.select(candidate, ticket);
      const held = request.watch === undefined ? opening.held : await passedBatch(opening.held, request);
      this.#rest = opening.rest;
      if (this.#isLetGo) return await this.return();
      this.#isOver = false;
      return { done: false, value: echoes.length === 0 ? held : [...echoes, ...held] };
    }
    const failure = dependencies.signal.aborted
      ? dependencies.signal.reason
      : failures.length > 0
        ? lastFailure(failures)
        : noneMayBeCalled(leg, dependencies, isShort);
    return this.#fail(failure, echoes);
  }

  /** Echoes of the sent requests come first, so that the failure follows them in the stream. */
  #fail(failure: unknown, echoes: readonly Event[]): IteratorResult<EventBatch, void> {
    if (echoes.length === 0 || !(failure instanceof GatewayError)) throw failure;
    return { done: false, value: [...echoes, { type: 'failure', error: failure }] };
  }
}

const OVER = { done: true, value: undefined } as const;
const over = () => OVER;

/** Tokens below which an answer may well have no content. */
const MIN_CONTENT_TOKENS = 16;

/**
 * Concludes the ticket of an answer that is dropped. A refusal does not count against the endpoint, nor does an empty
 * answer that the request itself may have caused.
 */
function leave(
  ticket: HealthTicket,
  { noContent }: Opening,
  { sampling, requestedOutputTokens }: GenerationRequest,
): void {
  const isAskedFor =
    sampling.stop !== undefined || (requestedOutputTokens ?? MIN_CONTENT_TOKENS) < MIN_CONTENT_TOKENS;
  if (noContent === 'refusal' || isAskedFor) ticket.succeeded({ outputTokens: 0, toolCalls: 'none' });
  else ticket.failed({ counts: true, isRateLimit: false });
}

/** An answer that is about to be forwarded: the events held back so far, and the rest. */
interface BegunAnswer {
  readonly held: readonly Event[];
  readonly rest: Flow<EventBatch>;
}

interface Opening extends BegunAnswer {
  /** Set if the answer ended without content: why another candidate might do better. */
  readonly noContent: NoContent | undefined;
}

/** Calls a candidate and reads until its answer proves usable. Concludes the ticket otherwise. */
async function openCandidate(
  { request, lane }: Pick<UpstreamCall, 'request' | 'lane'>,
  { candidate, ticket, isAgain }: NextCandidate,
  leg: Leg,
  dependencies: AttemptDependencies,
  echoes: Event[],
): Promise<Opening | UpstreamFailure> {
  const { signal } = dependencies;
  const startedMs = dependencies.monotonic();
  let firstByteMs: number | undefined;
  let answered: number | null = null;
  const record = (status: number, failure?: UpstreamFailure) =>
    leg.note(candidate, status, dependencies.monotonic() - startedMs, {
      startedMs,
      firstByteMs,
      answered,
      failure,
    });
  if (signal.aborted) {
    ticket.abandoned();
    throw signal.reason;
  }
  const credential = openCredential(candidate, dependencies);
  if (credential instanceof UpstreamFailure) {
    ticket.failed(blameOf(credential));
    return credential;
  }
  leg.lastCalled = candidate;
  try {
    const answer = await dependencies.callUpstream({
      request,
      endpoint: candidate.endpoint,
      lane,
      paid: dependencies.admission.paidLimits(candidate),
      credential,
      isByok: candidate.access.kind === 'byok',
      betas: dependencies.betas,
      hashUser: dependencies.hashUser,
      accountId: dependencies.accountId,
      ...(dependencies.replied !== undefined && { replied: dependencies.replied }),
      signal,
      onRequest: isAgain ? undefined : echoesOf(request, echoes),
    });
    firstByteMs = dependencies.monotonic() - startedMs;
    answered = answer.status;
    const held = new Held(answer.batches[Symbol.asyncIterator](), request.stream || isInParts(request));
    let opening = held.take(await held.rest.next());
    while (opening === undefined) opening = held.take(await held.rest.next());
    if (opening instanceof GatewayError) {
      await held.rest.return?.();
      // An answer that broke off because we aborted it is no failure of its endpoint.
      signal.throwIfAborted();
      if (isGatewayLimit(opening)) throw opening;
      const failure = await passedFailure(asUpstreamFailure(opening), request);
      record(failure.upstreamStatus === 0 ? answer.status : failure.upstreamStatus, failure);
      ticket.failed(blameOf(failure));
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
    else ticket.failed(blameOf(failure));
    return failure;
  }
}

/** The failure with the text of the upstream as it may be passed on. */
async function passedFailure(
  failure: UpstreamFailure,
  { watch }: GenerationRequest,
): Promise<UpstreamFailure> {
  if (watch === undefined) return failure;
  const passed = await watch.passedError(failure);
  return passed === failure ? failure : failure.inWords(passed.message, passed.metadata);
}

/** The batch, where a failure at its end has the text of the upstream as it may be passed on. */
async function passedBatch(batch: EventBatch, request: GenerationRequest): Promise<EventBatch> {
  const failure = failureIn(batch);
  if (failure === undefined) return batch;
  return [...batch.slice(0, -1), { type: 'failure', error: await passedFailure(failure, request) }];
}

/** The failure of the upstream at the end of a batch. */
function failureIn(batch: EventBatch): UpstreamFailure | undefined {
  const last = batch.at(-1);
  return last?.type === 'failure' && last.error instanceof UpstreamFailure ? last.error : undefined;
}

/** Vectors that have arrived are kept and charged: no other endpoint makes them again. */
function isInParts({ embedding }: GenerationRequest): boolean {
  return embedding !== undefined;
}

/** Collects the sent requests if the caller asked to see them. */
function echoesOf(
  { echoUpstreamBody, stream }: GenerationRequest,
  echoes: Event[],
): UpstreamCall['onRequest'] {
  if (!echoUpstreamBody || !stream) return undefined;
  return (sent) => {
    echoes.push({ type: 'debug', upstreamBody: sent });
  };
}

/** The credential for a candidate, or the reason why it cannot be called. */
function openCredential(
  candidate: Candidate,
  dependencies: AttemptDependencies,
): Credential | undefined | UpstreamFailure {
  try {
    return dependencies.credentialOf(candidate);
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

/**
 * Limits for events, and for characters of relayed frames, that are held back: an answer that goes on without content
 * is unusable.
 */
const MAX_HELD = { events: 10_000, characters: 8 * 1024 * 1024 };

/** An answer until its first content or its end. Of a whole answer nothing is forwarded before its end. */
class Held {
  readonly rest: Flow<EventBatch>;
  /** True if content is forwarded before the end of the answer. */
  readonly #isStream: boolean;
  readonly #events: Event[] = [];
  #characters = 0;

  constructor(rest: Flow<EventBatch>, isStream: boolean) {
    this.rest = rest;
    this.#isStream = isStream;
  }

  /** The outcome after this step; undefined = read on. */
  take(step: IteratorResult<EventBatch, unknown>): Opening | GatewayError | undefined {
    if (step.done === true) return this.#opening('empty');
    for (const event of step.value) {
      this.#events.push(event);
      if (event.type === 'relay') this.#characters += event.frame.data.length;
    }
    const terminal = terminalIn(step.value);
    if (this.#isStream && hasContent(step.value)) return this.#opening(refusalIn(terminal));
    if (terminal?.type === 'failure') return terminal.error;
    if (terminal !== undefined) {
      return this.#opening(refusalIn(terminal) ?? (isEmpty(this.#events, terminal) ? 'empty' : undefined));
    }
    const isTooMuch = this.#events.length > MAX_HELD.events || this.#characters > MAX_HELD.characters;
    if (!isTooMuch) return undefined;
    return new UpstreamFailure(
      'upstream-unavailable',
      'Provider returned error: an answer without content',
      0,
    );
  }

  #opening(noContent: NoContent | undefined): Opening {
    return { held: this.#events, rest: this.rest, noContent };
  }
}

function terminalIn(batch: EventBatch): Finish | Failure | undefined {
  // A terminal event is the last of its batch.
  const last = batch.at(-1);
  return last === undefined ? undefined : terminalOf(last);
}

/** True if there is no content although there was room for some. */
function isEmpty(held: readonly Event[], terminal: Finish): boolean {
  return terminal.reason !== 'length' && !hasContent(held);
}

/** Finish reasons with which a model, or a filter in front of it, declines. */
const REFUSALS: ReadonlySet<Finish['reason']> = new Set<Finish['reason']>(['refusal', 'content-filter']);

/** Set if the answer turned out to be a refusal; of a stream only its opening is known. */
function refusalIn(terminal: Finish | Failure | undefined): 'refusal' | undefined {
  return terminal?.type === 'finish' && REFUSALS.has(terminal.reason) ? 'refusal' : undefined;
}

function asUpstreamFailure(error: GatewayError): UpstreamFailure {
  return error instanceof UpstreamFailure
    ? error
    : new UpstreamFailure(error.kind, error.message, 0, { metadata: error.metadata, cause: error });
}

/** The last failure decides; a rate limit carries the shortest wait that any attempt named. */
function lastFailure(failures: readonly UpstreamFailure[]): GatewayError {
  const last = failures.at(-1);
  if (last === undefined) throw new Error('nothing has failed');
  const waits = failures.flatMap(({ retryAfterSeconds }) => retryAfterSeconds ?? []);
  const previous = failures.slice(0, -1).map((failure) => ({
    provider: String(failure.metadata?.provider_name ?? ''),
    code: failure.status,
    status: failure.upstreamStatus,
  }));
  return new UpstreamFailure(last.kind, last.message, last.upstreamStatus, {
    metadata: { ...last.metadata, ...(previous.length > 0 && { previous_errors: previous }) },
    ...(waits.length > 0 && { retryAfterSeconds: Math.min(...waits) }),
    cause: last.cause,
    errno: last.errno,
  });
}

/**
 * No endpoint was called: those that can be paid for are cooling down or rate limited. `isShort`: others cost too
 * much.
 */
function noneMayBeCalled(
  { plan }: Leg,
  { health, admission }: Pick<AttemptDependencies, 'health' | 'admission'>,
  isShort: boolean,
): GatewayError {
  const payable = isShort ? plan.candidates.filter((each) => admission.canPay(each)) : plan.candidates;
  if (payable.length === 0) {
    return new GatewayError(
      'payment',
      `What is left of the limits pays for no endpoint of ${plan.requested}; ask for fewer output tokens or raise the limit`,
    );
  }
  const sites = payable.map(({ endpoint, access }) => siteOf(endpoint, access));
  const retryAfterSeconds = health.retryAfterSeconds(sites);
  const which = isShort
    ? `Every endpoint of ${plan.requested} that what is left of the limits pays for`
    : `Every endpoint of ${plan.requested}`;
  const isRateLimited = sites.every((site) => health.of(site).pausedUntilMs > 0);
  return isRateLimited
    ? new GatewayError(
        'rate-limited',
        `${which} is rate limited by its provider; try again in ${retryAfterSeconds} s`,
        { retryAfterSeconds },
      )
    : new GatewayError(
        'overloaded',
        `${which} is cooling down after failures; try again in ${retryAfterSeconds} s`,
        { retryAfterSeconds },
      );
}
