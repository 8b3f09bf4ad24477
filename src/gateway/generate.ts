import { createHmac } from 'node:crypto';
import type { Catalog, Model } from '../catalog/catalog.ts';
import { tierOf } from '../catalog/endpoint-tier.ts';
import type { InboundDialect, ReplyContext } from '../dialects/dialect.ts';
import { GatewayError, invalidRequest, toGatewayError } from '../ir/errors.ts';
import type { Event, EventBatch } from '../ir/events.ts';
import { fold } from '../ir/fold.ts';
import type { Format } from '../ir/items.ts';
import type { RoutingMetadata, TranslationEntry } from '../ir/metadata.ts';
import type { GenerationRequest } from '../ir/request.ts';
import type { Clock } from '../kit/ids.ts';
import type { Log } from '../kit/log.ts';
import { textAt } from '../kit/members.ts';
import { inTurn, runAtOnce, runInTurns, type Sliced } from '../kit/turns.ts';
import type { OwnCredential, OwnCredentials } from '../ports/own-credentials.ts';
import { SHARED, siteOf } from '../routing/candidate.ts';
import type { Health } from '../routing/health/health.ts';
import { isOpenTo } from '../routing/rules/access.ts';
import { composeStages, type Stage } from '../stages/stage.ts';
import type { CountCall } from '../upstream/count-tokens.ts';
import type { PreviewCall } from '../upstream/preview.ts';
import type { CallUpstream } from '../upstream/upstream.ts';
import { attemptCandidates } from './attempt.ts';
import { conclude, type RoutingMemory } from './conclude.ts';
import { fitContext } from './context-length.ts';
import { CredentialOpener } from './credentials.ts';
import { countPrompt, estimateUsage } from './estimate.ts';
import { type Explanation, explainNothing, explainPlan } from './explain.ts';
import type {
  EndpointService,
  FinishedGeneration,
  Gateway,
  GenerationInput,
  OpenedStream,
} from './generation.ts';
import { countInputImages } from './input-images.ts';
import { type AttemptLimits, withinLimits } from './itinerary.ts';
import { Journey, metadataOfNothing, routingMetadata } from './journey.ts';
import { NothingLeft, type Plan, type PlanContext, planRequest } from './plan.ts';
import { plausibleUsage } from './plausible-usage.ts';
import { type Settlement, settleAnswer } from './settle.ts';
import type { Tokenizer } from './tokenizer.ts';
import { refuseUnavailable } from './unavailable.ts';

/** Settings of the gateway at one moment; a reload replaces them between requests, never inside one. */
export interface GatewaySnapshot {
  readonly vendor: string;
  readonly region: string | null;
  readonly catalog: Catalog;
  /** Patterns of the models that the auto router chooses from; undefined = all. */
  readonly autoModels: readonly string[] | undefined;
  readonly attempts: AttemptLimits;
  /** Share of the list price that is charged for generations with a caller's own credential. */
  readonly ownCredentialFee: number;
}

/** What the spine is built from. */
export interface GatewayParts {
  readonly snapshot: () => GatewaySnapshot;
  /** The formats that requests come in. */
  readonly formats: Readonly<Record<Format, InboundDialect>>;
  readonly stages: readonly Stage[];
  readonly callUpstream: CallUpstream;
  readonly tokenizer: Tokenizer;
  /** Changes a body before it is parsed: fills in presets and prompt templates. */
  readonly prepareBody: (format: Format, body: GenerationInput['body']) => PreparedBody;
  /** Items that only the relay lane can carry, named by path. */
  readonly untranslatable: (request: GenerationRequest) => readonly { path: string; message: string }[];
  /** Asks an endpoint to count the prompt; undefined when it cannot. */
  readonly countUpstream: (call: CountCall) => Promise<number | undefined>;
  /** Secret that end-user ids are hashed with. */
  readonly userHashKey: Buffer;
  /** Credentials that callers brought. */
  readonly ownCredentials: OwnCredentials;
  readonly health: Health;
  readonly memory: RoutingMemory;
  /** 0 <= number < 1, for draws among endpoints. */
  readonly random: () => number;
  /** What would be lost or changed on the way to an endpoint. */
  readonly previewUpstream: (call: PreviewCall) => Promise<readonly TranslationEntry[]>;
  /** Tells the operator. */
  readonly warn: Log['warn'];
  /** Keeps account of a generation that has ended. */
  readonly record: (input: GenerationInput, journey: Journey, settlement: Settlement) => Promise<void>;
  readonly clock: Clock;
}

/** A body with everything filled in that it named, and what of that has no place in it. */
export interface PreparedBody {
  readonly body: GenerationInput['body'];
  readonly report: readonly TranslationEntry[];
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
  const credentials = new CredentialOpener(parts.warn);

  async function prepare(input: GenerationInput): Promise<Underway> {
    const started = parts.clock.monotonic();
    const snapshot = parts.snapshot();
    try {
      const parsed = await runInTurns(parse(parts, input, snapshot));
      const journey = new Journey(await planned(parts, input, snapshot, parsed));
      return { input, snapshot, request: parsed.request, journey };
    } finally {
      input.timing.mark('plan', parts.clock.monotonic() - started);
    }
  }

  /** The answer as a lazy pipeline: attempts inside stages inside settlement. */
  function answer(underway: Underway): AsyncGenerator<EventBatch, void, void> {
    const { input, snapshot, request, journey } = underway;
    const pipeline = composeStages(journey.plan.stages, (staged) =>
      attemptCandidates(staged, journey, {
        callUpstream: parts.callUpstream,
        credentialOf: (candidate) => credentials.open(candidate),
        health: parts.health,
        hashUser: (id) => hashUser(parts.userHashKey, input.caller.accountId, id),
        ...(input.betas !== undefined && { betas: input.betas }),
        signal: input.signal,
        limits: snapshot.attempts,
      }),
    );
    return settleAnswer(pipeline(request), {
      journey,
      metadata: (outcome) => metadataOf(underway, outcome),
      believe: (reported) => plausibleUsage(reported, request, journey.selected?.endpoint),
      estimate: (result) => estimateUsage(request, result, parts.tokenizer),
      record: async (settlement) => {
        conclude(request, journey, settlement, parts.memory);
        await parts.record(input, journey, settlement);
      },
      ownCredentialFee: snapshot.ownCredentialFee,
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
      for (const candidate of withinLimits(journey.plan.candidates, snapshot.attempts)) {
        const counted = await parts.countUpstream({
          ...common,
          endpoint: candidate.endpoint,
          credential: credentials.open(candidate),
          isOwnCredential: candidate.access.kind === 'own',
        });
        if (counted !== undefined) return counted;
      }
      return countPrompt(request, parts.tokenizer, input.signal);
    },

    async explain(input): Promise<Explanation> {
      const snapshot = parts.snapshot();
      const parsed = await runInTurns(parse(parts, input, snapshot));
      const { request } = parsed;
      const promptTokens = await countPrompt(request, parts.tokenizer, input.signal);
      try {
        const plan = await planned(parts, { ...input, wantsMetadata: false }, snapshot, parsed);
        return await explainPlan(request, plan, {
          health: parts.health,
          preview: ({ endpoint, lane }) => parts.previewUpstream({ request, endpoint, lane }),
          promptTokens,
          nowMs: parts.clock.now(),
        });
      } catch (error) {
        if (!(error instanceof NothingLeft)) throw error;
        return explainNothing(error, promptTokens);
      }
    },

    async modelsFor(caller): Promise<readonly Model[]> {
      const own = await parts.ownCredentials.of(caller);
      const { models } = catalogFor(own, parts.snapshot().catalog);
      return own.length === 0 ? models : models.filter((model) => isReachable(model, own));
    },

    serviceOf(endpoint): EndpointService {
      const site = siteOf(endpoint, SHARED);
      return { ...parts.health.statistics(site), state: parts.health.of(site).state };
    },

    contextWithoutEndpoint(input): ReplyContext {
      const snapshot = parts.snapshot();
      const { request } = runAtOnce(parse(parts, input, snapshot));
      return {
        ...contextBase(parts, input, snapshot, request),
        model: request.models[0] ?? '',
        provider: '',
        serviceTier: 'default',
      };
    },
  };
}

/** A request in the gateway's own words, and what was lost before it came to that. */
interface Parsed {
  readonly request: GenerationRequest;
  readonly report: readonly TranslationEntry[];
}

function* parse(parts: GatewayParts, input: GenerationInput, { vendor }: GatewaySnapshot): Sliced<Parsed> {
  const { body, report } = parts.prepareBody(input.format, input.body);
  const request = yield* parts.formats[input.format].parseRequestSliced(body, { vendor });
  refuseUnavailable(request, vendor);
  return { request, report };
}

async function planned(
  parts: GatewayParts,
  input: GenerationInput,
  snapshot: GatewaySnapshot,
  { request, report }: Parsed,
): Promise<Plan> {
  try {
    const own = await parts.ownCredentials.of(input.caller);
    const context: PlanContext = {
      requested: textAt(input.body, 'model') ?? request.models[0] ?? '',
      catalog: catalogFor(own, snapshot.catalog),
      vendor: snapshot.vendor,
      autoModels: snapshot.autoModels,
      stages: parts.stages,
      accountId: input.caller.accountId,
      ...(input.sessionId !== undefined && { sessionId: input.sessionId }),
      own,
      health: parts.health,
      ...parts.memory,
      random: parts.random,
    };
    const first = await inTurn(parts.clock, () => planRequest(request, context));
    const replan = (promptTokens: number) => planRequest(request, context, promptTokens);
    const plan = await fitContext(first, request, replan, { ...parts, signal: input.signal });
    const untranslatable = await inTurn(parts.clock, () => parts.untranslatable(request));
    const candidates = relayedOnly(plan.candidates, untranslatable);
    return { ...plan, candidates, report: [...report, ...plan.report] };
  } catch (error) {
    if (!(error instanceof NothingLeft) || !input.wantsMetadata) throw error;
    throw error.withRouting(metadataOfNothing(error, snapshot.region));
  }
}

/** Models that nobody serves stay in the catalogue: so they do in the list. */
function isReachable(model: Model, own: readonly OwnCredential[]): boolean {
  const { endpoints } = model;
  return endpoints.length === 0 || endpoints.some((endpoint) => isOpenTo(endpoint, model, own));
}

/** Credentials of callers may open providers that the gateway itself has no credential for. */
function catalogFor(own: readonly OwnCredential[], catalog: Catalog): Catalog {
  const isServed = (slug: string) => catalog.providers.some((provider) => provider.slug === slug);
  return own.every(({ provider }) => isServed(provider)) ? catalog : catalog.withEveryProvider();
}

/** Items that nobody can translate leave only the endpoints that take the caller's body as it is. */
function relayedOnly(
  candidates: Plan['candidates'],
  issues: readonly { path: string; message: string }[],
): Plan['candidates'] {
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
    serviceTier: (selected && tierOf(selected.endpoint)) ?? 'default',
  };
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
