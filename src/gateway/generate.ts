import { createHmac } from 'node:crypto';
import type { Catalog } from '../catalog/catalog.ts';
import type { InboundDialect, ReplyContext } from '../dialects/dialect.ts';
import { GatewayError, invalidRequest, toGatewayError } from '../ir/errors.ts';
import type { Event, EventBatch } from '../ir/events.ts';
import { fold } from '../ir/fold.ts';
import type { Format } from '../ir/items.ts';
import type { RoutingMetadata } from '../ir/metadata.ts';
import type { GenerationRequest } from '../ir/request.ts';
import type { Clock } from '../kit/ids.ts';
import { inTurn } from '../kit/turns.ts';
import { composeStages, type Stage } from '../stages/stage.ts';
import type { CountCall } from '../upstream/count-tokens.ts';
import type { CallUpstream } from '../upstream/upstream.ts';
import { attemptCandidates, withinLimits } from './attempt.ts';
import { fitContext } from './context-length.ts';
import { countPrompt, estimateUsage } from './estimate.ts';
import type { FinishedGeneration, Gateway, GenerationInput, OpenedStream } from './generation.ts';
import { countInputImages } from './input-images.ts';
import { Journey, metadataOfNothing, routingMetadata } from './journey.ts';
import { NothingLeft, planRequest } from './plan.ts';
import { type Settlement, settleAnswer } from './settle.ts';
import type { Tokenizer } from './tokenizer.ts';
import { refuseUnavailable } from './unavailable.ts';

/** Settings of the gateway at one moment; a reload replaces them between requests, never inside one. */
export interface GatewaySnapshot {
  readonly vendor: string;
  readonly region: string | null;
  readonly catalog: Catalog;
  readonly attempts: { readonly perModel: number; readonly perRequest: number };
}

/** What the spine is built from. */
export interface GatewayParts {
  readonly snapshot: () => GatewaySnapshot;
  /** The formats that requests come in. */
  readonly formats: Readonly<Record<Format, InboundDialect>>;
  readonly stages: readonly Stage[];
  readonly callUpstream: CallUpstream;
  readonly tokenizer: Tokenizer;
  /** Changes a body before it is parsed: fills in prompt templates. */
  readonly prepareBody: (format: Format, body: GenerationInput['body']) => GenerationInput['body'];
  /** Items that only the relay lane can carry, named by path. */
  readonly untranslatable: (request: GenerationRequest) => readonly { path: string; message: string }[];
  /** Asks an endpoint to count the prompt; undefined when it cannot. */
  readonly countUpstream: (call: CountCall) => Promise<number | undefined>;
  /** Secret that end-user ids are hashed with. */
  readonly userHashKey: Buffer;
  /** Keeps account of a generation that has ended. */
  readonly record: (input: GenerationInput, journey: Journey, settlement: Settlement) => Promise<void>;
  readonly clock: Clock;
}

/** One request on its way: everything that is known of it from planning on. */
interface Underway {
  readonly input: GenerationInput;
  readonly snapshot: GatewaySnapshot;
  readonly request: GenerationRequest;
  readonly journey: Journey;
}

/** Builds the spine. */
export function createGateway(parts: GatewayParts): Gateway {
  async function prepare(input: GenerationInput): Promise<Underway> {
    const started = parts.clock.monotonic();
    const snapshot = parts.snapshot();
    const request = await inTurn(parts.clock, () => parse(parts, input, snapshot));
    const journey = await planned(parts, input, snapshot, request);
    input.timing.mark('plan', parts.clock.monotonic() - started);
    return { input, snapshot, request, journey };
  }

  /** The answer as a lazy pipeline: attempts inside stages inside settlement. */
  function answer(underway: Underway): AsyncGenerator<EventBatch, void, void> {
    const { input, snapshot, request, journey } = underway;
    const pipeline = composeStages(journey.plan.stages, (staged) =>
      attemptCandidates(staged, journey, {
        callUpstream: parts.callUpstream,
        hashUser: (id) => hashUser(parts.userHashKey, input.caller.accountId, id),
        ...(input.betas !== undefined && { betas: input.betas }),
        signal: input.signal,
        limits: snapshot.attempts,
      }),
    );
    return settleAnswer(pipeline(request), {
      journey,
      metadata: (outcome) => metadataOf(underway, outcome),
      estimate: (result) => estimateUsage(request, result, parts.tokenizer),
      record: (settlement) => parts.record(input, journey, settlement),
      acceptedAtMs: input.acceptedAtMs,
      inputImages: countInputImages(request),
    });
  }

  return {
    async stream(input): Promise<OpenedStream> {
      const underway = await prepare(input);
      const started = parts.clock.monotonic();
      const batches = answer(underway);
      const first = await routed(underway, () => batches.next());
      input.timing.mark('upstream', parts.clock.monotonic() - started);
      return { context: replyContext(parts, underway), batches: resume(first, batches) };
    },

    async complete(input): Promise<FinishedGeneration> {
      const underway = await prepare(input);
      const started = parts.clock.monotonic();
      const result = await routed(underway, async () => {
        const events: Event[] = [];
        for await (const batch of answer(underway)) for (const event of batch) events.push(event);
        return fold(events);
      });
      input.timing.mark('upstream', parts.clock.monotonic() - started);
      if (result.failure !== undefined) throw result.failure.withRouting(metadataOf(underway, 'failed'));
      return { context: replyContext(parts, underway), result };
    },

    async countTokens(input): Promise<number> {
      const { request, journey, snapshot } = await prepare(input);
      const common = {
        request,
        hashUser: (id: string) => hashUser(parts.userHashKey, input.caller.accountId, id),
        ...(input.betas !== undefined && { betas: input.betas }),
        signal: input.signal,
      };
      for (const { endpoint } of withinLimits(journey.plan.candidates, snapshot.attempts)) {
        const counted = await parts.countUpstream({ ...common, endpoint });
        if (counted !== undefined) return counted;
      }
      return countPrompt(request, parts.tokenizer, input.signal);
    },

    contextWithoutEndpoint(input): ReplyContext {
      const snapshot = parts.snapshot();
      const request = parse(parts, input, snapshot);
      return {
        ...contextBase(parts, input, snapshot, request),
        model: request.models[0] ?? '',
        provider: '',
        serviceTier: 'default',
      };
    },
  };
}

function parse(parts: GatewayParts, input: GenerationInput, { vendor }: GatewaySnapshot): GenerationRequest {
  const body = parts.prepareBody(input.format, input.body);
  const request = parts.formats[input.format].parseRequest(body, { vendor });
  refuseUnavailable(request, vendor);
  return request;
}

async function planned(
  parts: GatewayParts,
  input: GenerationInput,
  snapshot: GatewaySnapshot,
  request: GenerationRequest,
): Promise<Journey> {
  try {
    const wide = await inTurn(parts.clock, () =>
      planRequest(request, snapshot.catalog, parts.stages, snapshot.vendor),
    );
    const plan = await fitContext(wide, request, parts.tokenizer, input.signal);
    const untranslatable = await inTurn(parts.clock, () => parts.untranslatable(request));
    const candidates = relayedOnly(plan.candidates, untranslatable);
    return new Journey({ ...plan, candidates });
  } catch (error) {
    if (!(error instanceof NothingLeft) || !input.wantsMetadata) throw error;
    throw error.withRouting(metadataOfNothing(error, snapshot.region));
  }
}

/** Items that nobody can translate leave only the endpoints that take the caller's body as it is. */
function relayedOnly(
  candidates: Journey['plan']['candidates'],
  issues: readonly { path: string; message: string }[],
): Journey['plan']['candidates'] {
  if (issues.length === 0) return candidates;
  const relays = candidates.filter(({ lane }) => lane === 'relay');
  if (relays.length === 0) throw invalidRequest(issues);
  return relays;
}

function metadataOf(
  { input, journey, snapshot }: Underway,
  outcome: 'served' | 'failed',
): RoutingMetadata | undefined {
  return input.wantsMetadata ? routingMetadata(journey, snapshot.region, outcome) : undefined;
}

/** Gives an error from beyond planning its routing context. */
async function routed<T>(underway: Underway, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    const { signal } = underway.input;
    const cause = signal.aborted && signal.reason instanceof GatewayError ? signal.reason : error;
    throw toGatewayError(cause).withRouting(metadataOf(underway, 'failed'));
  }
}

function contextBase(
  parts: GatewayParts,
  input: GenerationInput,
  { vendor }: GatewaySnapshot,
  request: GenerationRequest,
) {
  return {
    vendor,
    request,
    generationId: input.generationId,
    createdAtMs: input.acceptedAtMs,
    now: () => parts.clock.now(),
  };
}

function replyContext(parts: GatewayParts, { input, snapshot, request, journey }: Underway): ReplyContext {
  const { selected } = journey;
  return {
    ...contextBase(parts, input, snapshot, request),
    model: selected?.model.id ?? journey.plan.requested,
    provider: selected?.endpoint.provider.name ?? '',
    serviceTier: selected === undefined ? 'default' : tierOf(selected.endpoint.tag),
  };
}

/** Tier endpoints are told by the end of their tag. */
function tierOf(tag: string): string {
  return /\/(flex|priority)$/.exec(tag)?.[1] ?? 'default';
}

/** Puts the batch that was already pulled back in front. Ending early ends the source. */
async function* resume(
  first: IteratorResult<EventBatch, void>,
  rest: AsyncGenerator<EventBatch, void, void>,
): AsyncGenerator<EventBatch, void, void> {
  try {
    if (first.done === true) return;
    yield first.value;
    yield* rest;
  } finally {
    await rest.return();
  }
}

function hashUser(key: Buffer, accountId: string, id: string): string {
  return createHmac('sha256', key).update(accountId).update('\0').update(id).digest('hex');
}
