import type { Catalog, Model } from '../catalog/catalog.ts';
import type { ReplyContext } from '../dialects/dialect.ts';
import { DIALECTS } from '../dialects/dialects.ts';
import { GatewayError, invalidRequest, toGatewayError } from '../ir/errors.ts';
import type { Format } from '../ir/items.ts';
import type { LegStatus } from '../ir/leg.ts';
import type { TranslationEntry } from '../ir/metadata.ts';
import type { GenerationRequest } from '../ir/request.ts';
import { textAt } from '../kit/json/members.ts';
import type { Log } from '../kit/log/log.ts';
import { BATCH_POINT } from '../kit/loop/cohort.ts';
import { inTurn } from '../kit/loop/turns.ts';
import { LedgerUnavailable } from '../ports/ledger.ts';
import type { OutputItems } from '../ports/output-items.ts';
import type { OwnCredential, OwnCredentials } from '../ports/own-credentials.ts';
import { SHARED, siteOf } from '../routing/candidate.ts';
import { isOpenTo } from '../routing/rules/access.ts';
import { ActiveStages, type ServedAnswer, type Stage } from '../stages/stage.ts';
import { Prompt } from '../tokens/estimate.ts';
import type { CountCall } from '../upstream/call/count-tokens.ts';
import type { PreviewCall } from '../upstream/call/preview.ts';
import type { Admission } from './admission/admission.ts';
import { admit, unrecordable } from './admission/admit.ts';
import { LearntLengths } from './admission/learnt-lengths.ts';
import { type Explanation, explainNothing, explainPlan } from './explain.ts';
import type {
  EndpointService,
  FinishedGeneration,
  Gateway,
  GenerationInput,
  OpenedStream,
} from './gateway.ts';
import { answerRequest } from './generation/answer.ts';
import { type AnswerParts, type AnswerState, hashUser } from './generation/answer-parts.ts';
import { AttemptLog, metadataOfNothing } from './generation/attempt-log.ts';
import { acceptedRow } from './generation/generation-row.ts';
import { OpenWork } from './generation/open-work.ts';
import { GenerationReservation } from './generation/reservation.ts';
import { Resumed } from './generation/resumed.ts';
import { ServedGeneration } from './generation/served-generation.ts';
import type { SettledAnswer } from './generation/settle.ts';
import { metadataOf, plannedGeneration, servedBy, type Underway } from './generation/underway.ts';
import { settleRefused, type UnservedRequest, unservedGeneration } from './generation/unserved.ts';
import { withinLimits } from './leg/candidate-queue.ts';
import { CredentialOpener } from './leg/credentials.ts';
import { NothingLeft, type Plan, type PlanContext, planRequest } from './plan.ts';
import { ContentRoom, type ContentShare } from './request/content-room.ts';
import { fitContext, largestContext } from './request/context-length.ts';
import { itemKeeper, withReferencedItems, withStandIns } from './request/item-references.ts';
import { type StoredFiles, withStoredFiles } from './request/stored-files.ts';
import { refuseUnavailable } from './request/unavailable.ts';
import { withDefaultModel, withDefaultSort } from './request/workspace-defaults.ts';
import type { GatewaySettings } from './settings.ts';

/** What the spine is built from. */
export interface GatewayParts extends AnswerParts {
  readonly settings: () => GatewaySettings;
  readonly stages: readonly Stage[];
  /** Changes a body before it is parsed: fills in presets and prompt templates. */
  readonly prepareBody: (format: Format, body: GenerationInput['body']) => PreparedBody;
  /** Files that requests may name. */
  readonly files: StoredFiles;
  /** Output items that requests may name. */
  readonly items: OutputItems;
  /** Asks an endpoint to count the prompt; undefined when it cannot. */
  readonly countUpstream: (call: CountCall) => Promise<number | undefined>;
  /** Credentials that callers brought. */
  readonly ownCredentials: OwnCredentials;
  /** 0 <= number < 1, for draws among endpoints. */
  readonly random: () => number;
  /** What would be lost or changed on the way to an endpoint. */
  readonly previewUpstream: (call: PreviewCall) => Promise<readonly TranslationEntry[]>;
  /** Tells the operator. */
  readonly warn: Log['warn'];
}

/** A body with everything filled in that it named, and what of that has no place in it. */
export interface PreparedBody {
  readonly body: GenerationInput['body'];
  readonly report: readonly TranslationEntry[];
}

/** Builds the spine. */
export function createGateway(parts: GatewayParts): Gateway {
  const credentials = new CredentialOpener(parts.warn);
  const state: AnswerState = {
    credentials,
    learnt: new LearntLengths(),
    drains: { current: 0 },
    open: new OpenWork(),
  };
  const room = new ContentRoom();
  const now = () => parts.clock.now();

  /** Reads a request. Its content is closed by whoever it is handed to, or here where that fails. */
  async function read(input: GenerationInput): Promise<ReadRequest> {
    const settings = parts.settings();
    const content = room.open(input.replied);
    try {
      const reading = readRequest(parts, input, settings, {
        content,
        maxTokens: (body) => maxPromptTokens(parts, input, settings, body),
      });
      const parsed = reading instanceof Promise ? await reading : reading;
      await BATCH_POINT;
      const { ledger } = parts;
      const reservation = new GenerationReservation(input, { ledger, now });
      const stages = stagesOf(parts, input, parsed.request, settings, reservation);
      return { input, settings, content, ...parsed, reservation, stages };
    } catch (error) {
      void content.close();
      throw error;
    }
  }

  async function planFor(reading: ReadRequest): Promise<Underway> {
    const { input, settings, request, prompt, stages, content, reservation } = reading;
    try {
      const { plan, mustRelay } = await planned(parts, input, settings, reading, stages.mayRelay);
      const attemptLog = new AttemptLog(plan, stages.notes, reservation.charges);
      const planFurther = furtherPlanner(parts, reading);
      return {
        input,
        settings,
        request,
        prompt,
        attemptLog,
        stages,
        reservation,
        planFurther,
        mustRelay,
        content,
      };
    } catch (error) {
      void content.close();
      await settleCharges(reading, error);
      throw error;
    }
  }

  /** Reserves the money, then answers. Nothing is awaited in between: what is admitted is settled. */
  async function admitted(underway: Underway): Promise<ModelAnswer> {
    const { input, settings, request, prompt, attemptLog, reservation, stages } = underway;
    const { ownCredentialFee, basePath, region } = settings;
    const { tokenizer } = parts;
    let admission: Admission;
    try {
      const row = () => acceptedRow(plannedGeneration(underway));
      const { acceptedAtMs: pricedAtMs } = input;
      admission = await admit(
        { input, request, prompt, plan: attemptLog.plan, pricedAtMs, row },
        { reservation, tokenizer, learnt: state.learnt, ownCredentialFee, basePath },
      );
    } catch (error) {
      void underway.content.close();
      await settleCharges({ input, request, settings: { region }, reservation, stages }, error);
      throw routed(error, underway);
    }
    const going = admission.isTight ? translated(underway) : underway;
    return new ModelAnswer(going, answerRequest(going, admission, parts, state), parts);
  }

  /** What stages have charged is the cost of a generation that comes to nothing after them. */
  async function settleCharges(charged: Charged, error: unknown): Promise<void> {
    if (!charged.reservation.isOpen) return;
    // It is recorded as soon as it can be; the caller is told why there is no answer.
    await settleRefused(unservedOf(charged), error, parts).catch((late: unknown) => {
      if (!(late instanceof LedgerUnavailable)) throw late;
    });
  }

  /** The request as stages leave it, or the answer of one of them. One that they refuse is recorded. */
  async function beforePlanning(
    reading: ReadRequest,
  ): Promise<ReadRequest | { readonly served: ServedAnswer }> {
    const { stages, request, content } = reading;
    if (stages.isEmpty) return reading;
    try {
      const outcome = await stages.before(request);
      if ('served' in outcome || outcome.request === request) return 'served' in outcome ? outcome : reading;
      // What they changed is measured anew.
      return { ...reading, request: outcome.request, prompt: new Prompt(outcome.request) };
    } catch (error) {
      void content.close();
      throw await refusedBy(reading, error);
    }
  }

  /** The refusal itself, once it is recorded. */
  async function refusedBy(reading: ReadRequest, error: unknown): Promise<unknown> {
    try {
      await settleRefused(unservedOf(reading), error, parts);
      return error;
    } catch (late) {
      return late instanceof LedgerUnavailable ? unrecordable(late) : late;
    }
  }

  /** The spine: read, stages that come before, plan, reserve, answer. */
  async function answerTo(input: GenerationInput): Promise<ModelAnswer | ServedGeneration> {
    const started = parts.clock.monotonic();
    let underway: Underway;
    try {
      const reading = await read(input);
      const outcome = await beforePlanning(reading);
      if ('served' in outcome) return await served(reading, outcome.served);
      underway = await planFor(outcome);
    } finally {
      input.timing.mark('plan', parts.clock.monotonic() - started);
    }
    return admitted(underway);
  }

  async function served(reading: ReadRequest, answer: ServedAnswer): Promise<ServedGeneration> {
    const { settings, content } = reading;
    void content.close();
    const { vendor } = settings;
    try {
      return await ServedGeneration.settle({ ...unservedOf(reading), served: answer, vendor }, parts);
    } catch (error) {
      throw error instanceof LedgerUnavailable ? unrecordable(error) : error;
    }
  }

  return {
    stream: async (input): Promise<OpenedStream> => (await answerTo(input)).stream(),

    complete: async (input): Promise<FinishedGeneration> => (await answerTo(input)).complete(),

    async countTokens(input): Promise<number> {
      const started = parts.clock.monotonic();
      const { request, prompt, attemptLog, settings, content } = await planFor(await read(input));
      input.timing.mark('plan', parts.clock.monotonic() - started);
      const common = {
        request,
        hashUser: (id: string) => hashUser(parts.userHashKey, input.caller.accountId, id),
        ...(input.betas !== undefined && { betas: input.betas }),
        signal: input.signal,
      };
      try {
        for (const candidate of withinLimits(attemptLog.plan.candidates, settings.attempts)) {
          const counted = await parts.countUpstream({
            ...common,
            endpoint: candidate.endpoint,
            credential: credentials.open(candidate),
            isOwnCredential: candidate.access.kind === 'own',
          });
          if (counted !== undefined) return counted;
        }
        return await prompt.count(parts.tokenizer, input.signal);
      } finally {
        void content.close();
      }
    },

    async explain(input): Promise<Explanation> {
      const content = room.open(input.replied);
      try {
        return await explained(parts, input, content);
      } finally {
        void content.close();
      }
    },

    async modelsFor(caller): Promise<readonly Model[]> {
      const own = await parts.ownCredentials.of(caller);
      const { models } = catalogFor(own, parts.settings().catalog);
      return own.length === 0 ? models : models.filter((model) => isReachable(model, own));
    },

    serviceOf(endpoint): EndpointService {
      const site = siteOf(endpoint, SHARED);
      return { ...parts.health.statistics(site), state: parts.health.of(site).state };
    },

    contextWithoutEndpoint(input): ReplyContext {
      const settings = parts.settings();
      const dialect = DIALECTS[input.format].inbound;
      const { body } = preparedBody(parts, input);
      const parsable = withStandIns(body, dialect.itemReferences);
      const request = accepted(dialect.parseRequest(parsable, settings), input, settings);
      return {
        vendor: settings.vendor,
        request,
        generationId: input.generationId,
        createdAtMs: input.acceptedAtMs,
        now,
        model: request.models[0] ?? '',
        provider: '',
        serviceTier: 'default',
      };
    },

    settled: () => state.open.done(),
  };
}

/** A request that was read, with what works on it. */
interface ReadRequest extends Parsed {
  readonly input: GenerationInput;
  readonly settings: GatewaySettings;
  readonly content: ContentShare;
  readonly reservation: GenerationReservation;
  readonly stages: ActiveStages;
}

/** A request that stages may have charged something for. */
interface Charged extends Pick<ReadRequest, 'input' | 'request' | 'reservation' | 'stages'> {
  readonly settings: Pick<GatewaySettings, 'region'>;
}

function unservedOf({ input, request, reservation, stages, settings }: Charged): UnservedRequest {
  return { input, request, region: settings.region, reservation, notes: stages.notes };
}

function stagesOf(
  parts: GatewayParts,
  input: GenerationInput,
  request: GenerationRequest,
  settings: GatewaySettings,
  reservation: GenerationReservation,
): ActiveStages {
  const { generationId, caller, format, body, cache, signal, header } = input;
  const { region } = settings;
  const accepted = () =>
    acceptedRow(
      unservedGeneration({ input, request, region, reservation, notes: [] }, request.models[0] ?? ''),
    );
  return new ActiveStages(parts.stages, request, {
    generationId,
    caller,
    workspace: caller.workspace,
    settings,
    charge: (kind, nanos) => reservation.charge(accepted, kind, nanos),
    format,
    body,
    cache,
    signal,
    header,
    now: () => parts.clock.now(),
    log: { warn: parts.warn },
  });
}

/** An answer of a model whose money is reserved. It must be pulled at once. */
class ModelAnswer {
  readonly #underway: Underway;
  readonly #batches: SettledAnswer;
  readonly #parts: GatewayParts;

  constructor(underway: Underway, batches: SettledAnswer, parts: GatewayParts) {
    this.#underway = underway;
    this.#batches = batches;
    this.#parts = parts;
  }

  async stream(): Promise<OpenedStream> {
    const first = await this.#pulled(() => this.#batches.next());
    return { context: this.#context(), batches: new Resumed(first, this.#batches) };
  }

  async complete(): Promise<FinishedGeneration> {
    const result = await this.#pulled(() => this.#batches.whole());
    if (result.failure !== undefined && !this.#tellsFailure()) {
      throw result.failure.withRouting(metadataOf(this.#underway, 'failed'));
    }
    return { context: this.#context(), result };
  }

  /** Whether what there is of a failed answer is told, with why there is no more. */
  #tellsFailure(): boolean {
    const { input, attemptLog } = this.#underway;
    const isTold = DIALECTS[input.format].inbound.tellsFailures === true;
    const hasEnded = (status: LegStatus) => attemptLog.legs.some(({ end }) => end?.status === status);
    return isTold && hasEnded('completed') && hasEnded('failed');
  }

  #context(): ReplyContext {
    return replyContext(this.#underway, this.#parts);
  }

  async #pulled<T>(pull: () => Promise<T>): Promise<T> {
    const { input, attemptLog } = this.#underway;
    input.timing.awaitUpstream();
    try {
      return await pull();
    } catch (error) {
      throw routed(error, this.#underway);
    } finally {
      input.timing.answered(attemptLog.firstByteMs, attemptLog.waitedMs);
    }
  }
}

/** Frames that are passed on as they come cannot be ended in the middle: where that may be needed they are translated. */
function translated(underway: Underway): Underway {
  const { request, attemptLog, mustRelay } = underway;
  if (!request.stream || mustRelay) return underway;
  const candidates = attemptLog.plan.candidates.map((candidate) =>
    candidate.lane === 'relay' ? { ...candidate, lane: 'translate' as const } : candidate,
  );
  return {
    ...underway,
    attemptLog: new AttemptLog({ ...attemptLog.plan, candidates }, attemptLog.notes, attemptLog.charges),
  };
}

/** A request in the gateway's own words, and what was lost before it came to that. */
interface Parsed {
  readonly request: GenerationRequest;
  readonly prompt: Prompt;
  readonly report: readonly TranslationEntry[];
}

function preparedBody(parts: GatewayParts, { format, body, caller }: GenerationInput): PreparedBody {
  return parts.prepareBody(format, withDefaultModel(body, caller.workspace));
}

/** What bounds the files and items that a request names. */
interface ContentBounds {
  readonly content: ContentShare;
  /** The largest prompt that anybody may take who may serve it, as far as its body tells. */
  readonly maxTokens: (body: PreparedBody) => Promise<number>;
}

/** At once, unless the body names files or output items, or is large. */
function readRequest(
  parts: GatewayParts,
  input: GenerationInput,
  settings: GatewaySettings,
  bounds: ContentBounds,
): Parsed | Promise<Parsed> {
  const prepared = preparedBody(parts, input);
  const references = DIALECTS[input.format].inbound.itemReferences;
  const body = withReferencedItems(prepared.body, references, parts.items, () => ({
    keyHash: input.caller.key.hash,
    maxCharacters: settings.maxFileBytes,
    takeRoom: (bytes) => bounds.content.take(bytes, settings.contentRoomBytes),
  }));
  if (!(body instanceof Promise)) return readFilled(parts, input, settings, prepared, bounds);
  return body.then((filled) =>
    readFilled(parts, input, settings, { body: filled, report: prepared.report }, bounds),
  );
}

/** Reads a body in which output items stand where they were named. */
function readFilled(
  parts: GatewayParts,
  input: GenerationInput,
  settings: GatewaySettings,
  prepared: PreparedBody,
  { content, maxTokens }: ContentBounds,
): Parsed | Promise<Parsed> {
  const filled = withStoredFiles(
    prepared.body,
    DIALECTS[input.format].inbound.fileParts,
    parts.files,
    () => ({
      workspaceId: input.caller.workspaceId,
      maxBytes: settings.maxFileBytes,
      maxTokens: () => maxTokens(prepared),
      takeRoom: (bytes) => content.take(bytes, settings.contentRoomBytes),
      signal: input.signal,
    }),
  );
  if (filled === undefined) return parse(parts, input, settings, prepared);
  return filled.then(({ body, report }) =>
    parse(parts, input, settings, { body, report: [...prepared.report, ...report] }),
  );
}

/** The largest prompt that the models take which a body names. Its files need not be read for that. */
async function maxPromptTokens(
  parts: GatewayParts,
  input: GenerationInput,
  settings: GatewaySettings,
  body: PreparedBody,
): Promise<number> {
  const { request } = await parse(parts, input, settings, body);
  const own = await parts.ownCredentials.of(input.caller);
  return largestContext(request, catalogFor(own, settings.catalog));
}

function parse(
  { clock }: Pick<GatewayParts, 'clock'>,
  input: GenerationInput,
  settings: GatewaySettings,
  { body, report }: PreparedBody,
): Parsed | Promise<Parsed> {
  const request = inTurn(clock, () => DIALECTS[input.format].inbound.parseRequest(body, settings));
  return request instanceof Promise
    ? request.then((late) => parsed(accepted(late, input, settings), report))
    : parsed(accepted(request, input, settings), report);
}

function parsed(request: GenerationRequest, report: Parsed['report']): Parsed {
  return { request, prompt: new Prompt(request), report };
}

/** A request that asks for nothing that is not there, with what its workspace has to say. */
function accepted(
  request: GenerationRequest,
  { caller }: GenerationInput,
  { vendor }: GatewaySettings,
): GenerationRequest {
  refuseUnavailable(request, vendor);
  return withDefaultSort(request, caller.workspace);
}

async function planned(
  parts: GatewayParts,
  input: GenerationInput,
  settings: GatewaySettings,
  { request, prompt, report }: Parsed,
  mayRelay: boolean,
): Promise<{ readonly plan: Plan; readonly mustRelay: boolean }> {
  try {
    const found = parts.ownCredentials.of(input.caller);
    const own = found instanceof Promise ? await found : found;
    const context: PlanContext = {
      requested: textAt(input.body, 'model') ?? request.models[0] ?? '',
      catalog: catalogFor(own, settings.catalog),
      vendor: settings.vendor,
      autoModels: settings.autoModels,
      mayRelay,
      accountId: input.caller.accountId,
      sessionId: input.sessionId,
      own,
      health: parts.health,
      pins: parts.memory.pins,
      traffic: parts.memory.traffic,
      random: parts.random,
    };
    const planning = inTurn(parts.clock, () => planRequest(request, context));
    const first = planning instanceof Promise ? await planning : planning;
    const replan = (promptTokens: number) => planRequest(request, context, promptTokens);
    const fitting = fitContext(first, { request, prompt }, replan, {
      tokenizer: parts.tokenizer,
      signal: input.signal,
    });
    const plan = fitting instanceof Promise ? await fitting : fitting;
    const looking = inTurn(parts.clock, () => DIALECTS[request.format].inbound.untranslatableIssues(request));
    const untranslatable = looking instanceof Promise ? await looking : looking;
    const mustRelay = untranslatable.length > 0;
    if (!mustRelay && report.length === 0) return { plan, mustRelay };
    const candidates = relayedOnly(plan.candidates, untranslatable);
    return { plan: { ...plan, candidates, report: [...report, ...plan.report] }, mustRelay };
  } catch (error) {
    if (!(error instanceof NothingLeft) || !input.wantsMetadata) throw error;
    throw error.withRouting(metadataOfNothing(error, settings.region));
  }
}

/**
 * Plans further legs: as the request itself, by the settings of its moment. What stages ask for is not the caller's body: it
 * is never relayed.
 */
function furtherPlanner(parts: GatewayParts, { input, settings }: ReadRequest): Underway['planFurther'] {
  return async (request, prompt) => {
    const body = { ...input.body, model: request.models[0] ?? '' };
    const asked = { ...input, body, wantsMetadata: false };
    const { plan } = await planned(parts, asked, settings, { request, prompt, report: [] }, false);
    return plan;
  };
}

/** A prompt that is too long is told of like everything else that rules endpoints out: so it is counted. */
async function explained(
  parts: GatewayParts,
  input: GenerationInput,
  content: ContentShare,
): Promise<Explanation> {
  const settings = parts.settings();
  const maxTokens = async () => Number.POSITIVE_INFINITY;
  const read = await readRequest(parts, input, settings, { content, maxTokens });
  const { request, prompt } = read;
  const promptTokens = await prompt.count(parts.tokenizer, input.signal);
  try {
    const { ledger, clock } = parts;
    const reservation = new GenerationReservation(input, { ledger, now: () => clock.now() });
    const { mayRelay } = stagesOf(parts, input, request, settings, reservation);
    const { plan } = await planned(parts, { ...input, wantsMetadata: false }, settings, read, mayRelay);
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
}

/** Models that nobody serves stay in the catalogue: so they do in the list. */
function isReachable(model: Model, own: readonly OwnCredential[]): boolean {
  const { endpoints } = model;
  return endpoints.length === 0 || endpoints.some((endpoint) => isOpenTo(endpoint, model, own));
}

/** Credentials of callers may open providers that the gateway itself has no credential for. */
function catalogFor(own: readonly OwnCredential[], catalog: Catalog): Catalog {
  if (own.length === 0) return catalog;
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

/** An error from beyond planning, with its routing context. */
function routed(error: unknown, underway: Underway): GatewayError {
  const { signal } = underway.input;
  const cause = signal.aborted && signal.reason instanceof GatewayError ? signal.reason : error;
  return toGatewayError(cause).withRouting(metadataOf(underway, 'failed'));
}

function replyContext(underway: Underway, { clock, items }: GatewayParts): ReplyContext {
  const { input, settings, request, attemptLog } = underway;
  const { selected } = attemptLog;
  return {
    vendor: settings.vendor,
    request,
    generationId: input.generationId,
    createdAtMs: input.acceptedAtMs,
    now: () => clock.now(),
    ...(selected === undefined
      ? { model: attemptLog.plan.requested, provider: '', serviceTier: 'default' }
      : servedBy(selected)),
    keepItem: itemKeeper(underway, items),
  };
}
