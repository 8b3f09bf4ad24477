import type { Credential } from '../catalog/credential.ts';
import { GatewayError } from '../ir/errors.ts';
import {
  type Event,
  type EventBatch,
  type Failure,
  type Finish,
  hasContent,
  terminalOf,
} from '../ir/events.ts';
import type { GenerationRequest } from '../ir/request.ts';
import { type Flow, type Polling, polled } from '../kit/flow.ts';
import type { JsonObject } from '../kit/json.ts';
import { type Candidate, siteOf } from '../routing/candidate.ts';
import type { Health } from '../routing/health/health.ts';
import type { Visit } from '../routing/health/visit.ts';
import { type CallUpstream, UpstreamFailure } from '../upstream/upstream.ts';
import type { Admission } from './admission/admission.ts';
import { blameOf } from './blame.ts';
import { type AttemptLimits, Itinerary, type Stop } from './itinerary.ts';
import type { Journey } from './journey.ts';

/** What the attempt loop needs to make calls. */
export interface AttemptTools {
  readonly callUpstream: CallUpstream;
  /** What a candidate is called with; throws an UpstreamFailure. */
  readonly credentialOf: (candidate: Candidate) => Credential | undefined;
  readonly health: Health;
  readonly hashUser: (id: string) => string;
  readonly betas?: string;
  readonly signal: AbortSignal;
  readonly limits: AttemptLimits;
  /** What is paid for. */
  readonly admission: Pick<Admission, 'canPay' | 'mostOutputTokens'>;
  /** Whether nobody waits for the answer any more, although the call that is under way may go on. */
  readonly isAbandoned: () => boolean;
  /** Milliseconds that only ever grow. */
  readonly monotonic: () => number;
}

/**
 * Tries candidate after candidate until one brings content, then passes its answer on. Until then nothing has been
 * forwarded: a failure, a refusal or an empty answer moves on to the next candidate. Throws when none is left.
 */
export function attemptCandidates(
  request: GenerationRequest,
  journey: Journey,
  tools: AttemptTools,
): AsyncGenerator<EventBatch, void, void> & Polling<EventBatch> {
  const passage = new Passage(tools.signal, () => openAnswer(request, journey, tools));
  return polled(attempts(passage), passage);
}

/** Waits as long as the answer goes on: it keeps nothing but what is to come. */
async function* attempts(passage: Passage): AsyncGenerator<EventBatch, void, void> {
  try {
    yield await passage.first();
    for (let step = await passage.next(); step.done !== true; step = await passage.next()) yield step.value;
  } finally {
    await passage.close();
  }
}

/** The answer that will be passed on. */
async function openAnswer(
  request: GenerationRequest,
  journey: Journey,
  tools: AttemptTools,
): Promise<BegunAnswer> {
  const { candidates } = journey.plan;
  const failures: UpstreamFailure[] = [];
  const echoes: Event[] = [];
  const itinerary = new Itinerary(candidates, tools.health, tools.limits);
  const { admission } = tools;
  const canPay = (candidate: Candidate) => admission.canPay(candidate);
  const next = (fits: (candidate: Candidate) => boolean) =>
    tools.isAbandoned() ? undefined : itinerary.next(fits);
  for (let stop = next(canPay); stop !== undefined; ) {
    const { candidate, visit } = stop;
    const opening = await openCandidate(request, stop, journey, tools, echoes);
    if (opening instanceof UpstreamFailure) {
      failures.push(opening);
      stop = next(canPay);
      continue;
    }
    const { disappointment } = opening;
    const other = disappointment && next((each) => isBetter(each, disappointment, candidate) && canPay(each));
    if (other !== undefined) {
      leave(visit, opening, request);
      await opening.rest.return?.();
      stop = other;
      continue;
    }
    journey.select(candidate, visit);
    const { held, rest } = opening;
    return { held: echoes.length === 0 ? held : [...echoes, ...held], rest };
  }
  tools.signal.throwIfAborted();
  throw failures.length > 0 ? lastFailure(failures) : nobodyMayBeCalled(journey, tools.health);
}

/** A refusal is the model's own: only another model may do better. An empty answer may be the endpoint's fault. */
function isBetter({ model }: Candidate, disappointment: Disappointment, left: Candidate): boolean {
  return disappointment === 'empty' || model !== left.model;
}

/** Tokens below which an answer may well have no content. */
const FEW_TOKENS = 16;

/** A refusal tells nothing against the endpoint, nor does an empty answer that the request itself may have brought about. */
function leave(
  visit: Visit,
  { disappointment }: Opening,
  { sampling, maxOutputTokens }: GenerationRequest,
): void {
  const isAskedFor = sampling.stop !== undefined || (maxOutputTokens ?? FEW_TOKENS) < FEW_TOKENS;
  if (disappointment === 'refusal' || isAskedFor) visit.succeeded({ outputTokens: 0, toolCalls: 'none' });
  else visit.failed({ counts: true, isRateLimit: false });
}

/** An answer. When the caller left, nobody is there to be told of a failure: the answer just ends. */
class Passage {
  readonly #signal: AbortSignal;
  /** Holds all that calling somebody takes: let go of as soon as somebody answers. */
  #open: (() => Promise<BegunAnswer>) | undefined;
  #rest: Flow<EventBatch> | undefined;

  constructor(signal: AbortSignal, open: () => Promise<BegunAnswer>) {
    this.#signal = signal;
    this.#open = open;
  }

  /** What was held back until somebody answered. */
  async first(): Promise<EventBatch> {
    const begun = await this.#open?.();
    this.#open = undefined;
    this.#rest = begun?.rest;
    return begun?.held ?? [];
  }

  async close(): Promise<void> {
    await this.#rest?.return?.();
  }

  async next(): Promise<IteratorResult<EventBatch, unknown>> {
    const step = (await this.#rest?.next()) ?? { done: true, value: undefined };
    if (step.done !== true && this.#isLeft()) throw this.#signal.reason;
    return step;
  }

  poll(): EventBatch | undefined {
    return this.#rest?.poll?.();
  }

  whenReady(wake: () => void): boolean {
    return this.#rest?.whenReady?.(wake) ?? false;
  }

  #isLeft(): boolean {
    return this.#signal.aborted && !(this.#signal.reason instanceof GatewayError);
  }
}

/** An answer that is about to be passed on: what was held back so far and what is still to come. */
interface BegunAnswer {
  readonly held: readonly Event[];
  readonly rest: Flow<EventBatch>;
}

interface Opening extends BegunAnswer {
  /** The answer ended without content: why somebody else might do better. */
  readonly disappointment: Disappointment | undefined;
}

type Disappointment = 'refusal' | 'empty';

/** Calls a candidate and reads until its answer is known to be one. A visit that comes to nothing is concluded. */
async function openCandidate(
  request: GenerationRequest,
  { candidate, visit }: Stop,
  journey: Journey,
  tools: AttemptTools,
  echoes: Event[],
): Promise<Opening | UpstreamFailure> {
  const { signal } = tools;
  const started = tools.monotonic();
  const record = (status: number) => journey.note(candidate, status, tools.monotonic() - started);
  if (signal.aborted) {
    visit.abandoned();
    throw signal.reason;
  }
  const credential = openCredential(candidate, tools);
  if (credential instanceof UpstreamFailure) {
    visit.failed(blameOf(credential));
    return credential;
  }
  journey.lastCalled = candidate;
  try {
    const answer = await tools.callUpstream({
      request,
      endpoint: candidate.endpoint,
      lane: candidate.lane,
      mostOutputTokens: tools.admission.mostOutputTokens(candidate),
      credential,
      isOwnCredential: candidate.access.kind === 'own',
      betas: tools.betas,
      hashUser: tools.hashUser,
      signal,
      onRequest: (sent: JsonObject) => {
        if (request.echoUpstreamBody && request.stream) echoes.push({ type: 'debug', upstreamBody: sent });
      },
    });
    const opening = await holdUntilContent(answer.batches[Symbol.asyncIterator](), request.stream);
    if (opening instanceof UpstreamFailure) {
      // An answer that broke off because it was given up is nobody's failure.
      signal.throwIfAborted();
      record(opening.upstreamStatus === 0 ? answer.status : opening.upstreamStatus);
      visit.failed(blameOf(opening));
      return opening;
    }
    visit.firstToken(request.stream ? 'stream' : 'whole');
    record(answer.status);
    journey.report = answer.report;
    return opening;
  } catch (error) {
    if (signal.aborted) {
      giveUp(signal.reason, visit, record);
      throw error;
    }
    if (!(error instanceof UpstreamFailure)) {
      visit.abandoned();
      throw error;
    }
    // An upstream that never answered is recorded by what its silence means to the caller.
    record(error.upstreamStatus === 0 ? error.status : error.upstreamStatus);
    visit.failed(blameOf(error));
    return error;
  }
}

/** What a candidate is called with, or why it cannot be called. */
function openCredential(
  candidate: Candidate,
  { credentialOf }: AttemptTools,
): Credential | undefined | UpstreamFailure {
  try {
    return credentialOf(candidate);
  } catch (error) {
    if (error instanceof UpstreamFailure) return error;
    throw error;
  }
}

/** Status of a call that ended because the caller went away: what web servers log for it. */
const CALLER_GONE = 499;

/** A call that was made and not waited for any longer. That it took longer than the gateway's deadline is its own fault. */
function giveUp(reason: unknown, visit: Visit, record: (status: number) => void): void {
  const isTooSlow = reason instanceof GatewayError && reason.kind === 'deadline';
  record(isTooSlow ? reason.status : CALLER_GONE);
  if (isTooSlow) visit.failed({ counts: true, isRateLimit: false });
  else visit.abandoned();
}

/** Events, and characters of relayed frames, that are held back at most: an answer that goes on without content is none. */
const MOST_HELD = { events: 10_000, characters: 8 * 1024 * 1024 };

/** Reads on until there is content, or the end. Of a whole answer nothing is forwarded before its end is known. */
async function holdUntilContent(
  rest: Flow<EventBatch>,
  isStream: boolean,
): Promise<Opening | UpstreamFailure> {
  const held: Event[] = [];
  let characters = 0;
  for (;;) {
    const step = await rest.next();
    if (step.done === true) return { held, rest, disappointment: 'empty' };
    for (const event of step.value) {
      held.push(event);
      if (event.type === 'relay') characters += event.frame.data.length;
    }
    const terminal = terminalIn(step.value);
    if (isStream && hasContent(step.value)) return { held, rest, disappointment: refusalIn(terminal) };
    if (terminal?.type === 'failure') return asUpstreamFailure(terminal.error);
    if (terminal !== undefined) {
      return {
        held,
        rest,
        disappointment: refusalIn(terminal) ?? (isEmpty(held, terminal) ? 'empty' : undefined),
      };
    }
    if (held.length > MOST_HELD.events || characters > MOST_HELD.characters) {
      await rest.return?.();
      return new UpstreamFailure(
        'upstream-unavailable',
        'Provider returned error: an answer without content',
        0,
      );
    }
  }
}

function terminalIn(batch: EventBatch): Finish | Failure | undefined {
  // A terminal event is the last of its batch.
  const last = batch.at(-1);
  return last === undefined ? undefined : terminalOf(last);
}

/** Without content, and not because there was no room for any. */
function isEmpty(held: readonly Event[], terminal: Finish): boolean {
  return terminal.reason !== 'length' && !hasContent(held);
}

/** Ends by which a model declines, or somebody in front of it does. */
const REFUSALS: ReadonlySet<Finish['reason']> = new Set<Finish['reason']>(['refusal', 'content-filter']);

/** Whether the answer turned out to be a refusal; of a stream only its opening is known. */
function refusalIn(terminal: Finish | Failure | undefined): 'refusal' | undefined {
  return terminal?.type === 'finish' && REFUSALS.has(terminal.reason) ? 'refusal' : undefined;
}

function asUpstreamFailure(error: GatewayError): UpstreamFailure {
  return error instanceof UpstreamFailure
    ? error
    : new UpstreamFailure(error.kind, error.message, 0, { metadata: error.metadata, cause: error });
}

/** The last failure decides; a rate limit comes with the smallest wait that any attempt named. */
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
  });
}

/** Every endpoint cools down or asked to be left alone: nobody was called. */
function nobodyMayBeCalled({ plan }: Journey, health: Health): GatewayError {
  const sites = plan.candidates.map(({ endpoint, access }) => siteOf(endpoint, access));
  const retryAfterSeconds = health.retryAfterSeconds(sites);
  const isRateLimited = sites.every((site) => health.of(site).pausedUntilMs > 0);
  return isRateLimited
    ? new GatewayError(
        'rate-limited',
        `Every endpoint of ${plan.requested} is rate limited by its provider; try again in ${retryAfterSeconds} s`,
        { retryAfterSeconds },
      )
    : new GatewayError(
        'overloaded',
        `Every endpoint of ${plan.requested} is cooling down after failures; try again in ${retryAfterSeconds} s`,
        { retryAfterSeconds },
      );
}
