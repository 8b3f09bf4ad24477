import type { Endpoint } from '../../catalog/catalog.ts';
import { GatewayError } from '../../ir/errors.ts';
import type { Echo, EventBatch } from '../../ir/events.ts';
import type { GenerationRequest } from '../../ir/request.ts';
import type { Flow } from '../../kit/frames/flow.ts';
import type { CallerHealth } from '../../routing/health/health.ts';
import type { HealthTicket } from '../../routing/health/health-ticket.ts';
import type { Candidate } from '../../routing/rules/candidate.ts';
import { UpstreamFailure } from '../../upstream/upstream.ts';
import type { Admission } from '../admission/admission.ts';
import type { AttemptLimits } from '../request/settings.ts';
import { CandidateQueue } from './candidate-queue.ts';
import type { Opening } from './held-answer.ts';
import { lastFailure, noneMayBeCalled } from './no-answer.ts';
import { type CallingLeg, openCandidate } from './open-candidate.ts';
import { failureIn, passedBatch } from './passed-failure.ts';

/** The leg whose candidates are tried. */
export interface AttemptedLeg extends CallingLeg {
  readonly request: GenerationRequest;
  readonly health: CallerHealth;
  readonly limits: AttemptLimits;
  readonly admission: Pick<Admission, 'canPay' | 'paidLimits'>;
  readonly allowsFallbacks: boolean;
  /** True if the caller has left, although the current call may go on. */
  isAbandoned(): boolean;
  /**
   * Writes a checkpoint of what earlier calls may be billed, before a further one: the process may end during that.
   * Undefined if there is nothing to write.
   */
  noteLost(): Promise<void> | undefined;
  /** Pays for an answer that is dropped for another candidate; false = the limits do not allow it. */
  payDropped(candidate: Candidate, held: EventBatch): Promise<boolean>;
}

type AdaptRequest = (request: GenerationRequest, endpoint: Endpoint) => GenerationRequest;

const same: AdaptRequest = (request) => request;

/**
 * Tries candidate after candidate until one brings content, then forwards its answer. Until then nothing is forwarded:
 * a failure, a refusal or an empty answer moves on to the next candidate. A refused or empty answer is paid for; if
 * the limits do not pay for another one, it is the answer. Throws if no candidate is left.
 *
 * One reader pulls it, one step at a time, so it need not be a generator, which costs several promises a step.
 */
export class Attempts implements AsyncIterableIterator<EventBatch, void, undefined>, Flow<EventBatch> {
  readonly #running: AttemptedLeg;
  readonly #adapt: AdaptRequest;
  #rest: Flow<EventBatch> | undefined;
  /** True if nothing can be pulled: while the answer is opened, and for good if that fails. */
  #isOver = false;
  /** A polled batch whose failure has to be looked at first: `next` returns it. */
  #held: EventBatch | undefined;
  /** True after `return`. */
  #isLetGo = false;

  /** `adapt`: the request as an endpoint gets it. */
  constructor(running: AttemptedLeg, adapt: AdaptRequest = same) {
    this.#running = running;
    this.#adapt = adapt;
  }

  next(): Promise<IteratorResult<EventBatch, void>> {
    if (this.#isOver) return Promise.resolve(OVER);
    return this.#rest === undefined ? this.#open() : this.#goOn(this.#rest);
  }

  poll(): EventBatch | undefined {
    if (this.#held !== undefined) return undefined;
    const batch = this.#rest?.poll?.();
    if (batch === undefined || this.#running.request.watch === undefined || failureIn(batch) === undefined)
      return batch;
    this.#held = batch;
    return undefined;
  }

  whenReady(wake: () => void): boolean {
    return this.#held === undefined && (this.#rest?.whenReady?.(wake) ?? false);
  }

  get hasEnded(): boolean {
    return this.#held === undefined && this.#rest?.hasEnded === true;
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
        if (this.#isLeft()) throw this.#running.around.signal.reason;
        const { request } = this.#running;
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
    const { signal } = this.#running.around;
    return signal.aborted && !(signal.reason instanceof GatewayError);
  }

  async #open(): Promise<IteratorResult<EventBatch, void>> {
    const running = this.#running;
    const { request, leg, admission } = running;
    const { signal } = running.around;
    this.#isOver = true;
    const failures: UpstreamFailure[] = [];
    const echoes: Echo[] = [];
    leg.detailsFailures = request.echoUpstreamBody;
    const queue = new CandidateQueue(leg.plan.candidates, running);
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
      const noting = running.noteLost();
      if (noting !== undefined) await noting;
      let opening: Opening | UpstreamFailure;
      try {
        const sent = this.#adapt(request, candidate.endpoint);
        const lane = sent === request ? candidate.lane : 'translate';
        opening = await openCandidate({ request: sent, lane }, current, running, echoes);
      } catch (error) {
        return this.#fail(error, echoes);
      }
      if (opening instanceof UpstreamFailure) {
        failures.push(opening);
        leg.calling = undefined;
        current = queue.afterFailure(opening, candidate, canPay);
        continue;
      }
      const { noContent } = opening;
      const other = noContent && queue.afterNoContent(noContent, candidate, canPay);
      if (noContent !== undefined && other !== undefined) {
        if (await running.payDropped(candidate, opening.held)) {
          leg.noteNoContent(noContent);
          leg.calling = undefined;
          leave(ticket, opening, request);
          await opening.rest.return?.();
          current = other;
          continue;
        }
        other.ticket.abandoned();
      }
      leg.select(candidate, ticket);
      const held = request.watch === undefined ? opening.held : await passedBatch(opening.held, request);
      this.#rest = opening.rest;
      if (this.#isLetGo) return await this.return();
      this.#isOver = false;
      return { done: false, value: echoes.length === 0 ? held : [...echoes, ...held] };
    }
    const failure = signal.aborted
      ? signal.reason
      : failures.length > 0
        ? lastFailure(failures)
        : noneMayBeCalled(leg, running, isShort);
    return this.#fail(failure, echoes);
  }

  /** Throws, so that a failure before any content keeps its status. It carries the echoes of the sent requests. */
  #fail(failure: unknown, echoes: readonly Echo[]): never {
    if (echoes.length === 0 || !(failure instanceof GatewayError)) throw failure;
    const echoed = { echo_upstream_body: echoes.map(({ upstreamBody }) => upstreamBody) };
    throw failure instanceof UpstreamFailure
      ? failure.inWords(failure.message, { ...failure.metadata, ...echoed })
      : failure.withMetadata(echoed);
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
