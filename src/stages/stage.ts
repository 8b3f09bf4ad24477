import type { Endpoint, Provider } from '../catalog/catalog.ts';
import type { CacheWish } from '../ir/cache-wish.ts';
import type { GatewayError } from '../ir/errors.ts';
import type { EventBatch } from '../ir/events.ts';
import type { RequestFormat } from '../ir/items.ts';
import type { ChargeKind, LegKind, PaidCharge, ToolCallRecord } from '../ir/leg.ts';
import type { PipelineEntry, TranslationEntry } from '../ir/metadata.ts';
import type { GenerationRequest } from '../ir/request.ts';
import type { Result } from '../ir/result.ts';
import type { ToldTrace } from '../ir/trace.ts';
import type { FlowSource } from '../kit/frames/flow.ts';
import type { JsonObject } from '../kit/json/json.ts';
import type { Log } from '../kit/log/log.ts';
import type { Nanos } from '../kit/money.ts';
import type { WriteOff } from '../ports/money/write-offs.ts';
import type { Caller } from '../ports/tenancy/caller.ts';
import type { Workspace } from '../ports/tenancy/tenancy.ts';
import type { ToolSettings } from '../tools/server-tool.ts';

export interface LegWish {
  /** Purpose of the leg; absent = it is the caller's answer. */
  readonly kind?: LegKind;
  /** Number of the call of a server tool that it is for, from 1; absent = none. */
  readonly toolCall?: number | undefined;
  /** Only the endpoint that served the previous main leg may serve; the leg fails if that is not possible. */
  readonly isPinned?: boolean;
  /**
   * The request as an endpoint gets it, if it is not the same for all; called with the request after all stages.
   * Another one than that is translated, never relayed.
   */
  readonly adapt?: (request: GenerationRequest, endpoint: Endpoint) => GenerationRequest;
  /** Cancels the leg, as if its iterator were closed. */
  readonly signal?: AbortSignal;
}

/**
 * Runs the rest of the pipeline, down to the upstream: one leg. Nothing runs until it is pulled. It ends with one
 * terminal event, and its account is closed by then. A leg beyond the limits ends at once, with `budget`; one that
 * fails after the first ends with a failure.
 */
export type Next = (request: GenerationRequest, wish?: LegWish) => FlowSource<EventBatch>;

/** Operator settings that stages read; `vendor` is the prefix of the operator's own headers and tools. */
export interface StageSettings extends ToolSettings {
  readonly region: string | null;
  /** The service that judges texts; undefined = none. */
  readonly moderation: ServiceSettings | undefined;
  /** The service that reads pictures of pages; undefined = none. */
  readonly ocr: OcrSettings | undefined;
}

/** A service that reads pictures of pages. */
export interface OcrSettings extends ServiceSettings {
  /** Price of a page; undefined = not known, so that no limit could hold it back. */
  readonly pageNanos: Nanos | undefined;
}

/** Something besides generations that a provider does for stages. */
export interface ServiceSettings {
  readonly provider: string;
  /** The provider's name of the model. */
  readonly model: string;
}

export interface StageContext {
  readonly generationId: string;
  readonly caller: Caller;
  readonly workspace: Workspace;
  readonly settings: StageSettings;
  readonly format: RequestFormat;
  readonly body: JsonObject;
  /** Absent = no caching is requested. */
  readonly cache: CacheWish | undefined;
  /** Aborted when the caller leaves or the deadline passes. */
  readonly signal: AbortSignal;
  now(): number;
  readonly log: Pick<Log, 'warn'>;
  /** What services are told of the trace; absent = nothing. */
  readonly toldTrace?: ToldTrace | undefined;
  /**
   * Pays for something besides a model call, before it is done: reserves and records it as part of the generation's
   * cost. Undefined = the limits are too low. Rejects with LedgerUnavailable, and after the end of the answer.
   */
  charge(kind: ChargeKind, nanos: Nanos): Promise<PaidCharge | undefined>;
  /** Counts what a service bills beyond its charge: it is charged to no account, and recorded. */
  writeOff(writeOff: WriteOff): void;
  /** True if no limit and no balance covers the caller. Rejects with LedgerUnavailable. */
  isUnlimited(): Promise<boolean>;
  /**
   * Adds calls of server tools to the record, in the place of one that was noted when it began. Returns the number of
   * the first in the record, from 1.
   */
  noteToolCalls(calls: readonly ToolCallRecord[], begun?: ToolCallRecord): number;
  /** Tokens and cost of all ended legs and charges, and the cost of the dearest leg. */
  used(): { readonly tokens: number; readonly nanos: Nanos; readonly dearestLegNanos: Nanos };
  /**
   * The endpoints that could serve a request, in the order in which they would be tried now; none if the request
   * cannot be served. It is planned for this alone: the order may differ when it is served.
   */
  endpointsFor(request: GenerationRequest): Promise<readonly Endpoint[]>;
  /**
   * True if zero retention is demanded, so that nothing of the generation may be kept. `models`: ids of the models that
   * answer, as far as they are known.
   */
  hasZeroRetention(request: GenerationRequest, models: readonly string[]): boolean;
  /** Why the `provider` preferences of a request keep its texts from a provider; undefined = they do not. */
  wishAgainst(request: GenerationRequest, provider: Provider): string | undefined;
  /** Adds an entry to the pipeline of the routing metadata. */
  note(entry: PipelineEntry): void;
  /** Adds an entry that stays behind all others. */
  noteLast(entry: PipelineEntry): void;
  /** Adds members to `error.metadata` if the generation fails before its reply begins. */
  addFailureMetadata(metadata: JsonObject): void;
  /** Forbids keeping the answer for further requests. */
  keepNothing(): void;
  /** True if the answer may be kept for further requests. */
  mayKeep(): boolean;
  /** Adds a header to the reply; without effect once the reply has begun. `name`: without the operator's prefix. */
  header(name: string, value: string): void;
}

export interface GivenAnswer {
  readonly result: Result;
  /** Public slug of the model. */
  readonly model: string;
  /** Display name of the provider. */
  readonly provider: string;
  readonly serviceTier: string;
}

/** An answer that a stage gives instead of a model. */
export interface ServedAnswer extends GivenAnswer {
  /** The generation that the answer was made for; null = none. */
  readonly sourceId: string | null;
}

/**
 * One step of a generation: guardrails, plugins and the cache all have this shape. It runs at up to three places:
 * before a model is chosen and money is reserved, around the calls of models, and after the generation is settled.
 */
export interface Stage {
  readonly name: string;
  /** The part of a generation that it may change. With `nothing` a generation stays on the relay lane. */
  readonly touches: 'nothing' | 'request' | 'answer';
  /** For a stage that touches the request: a request that `before` left as it is may be relayed. */
  readonly relaysUnchanged?: boolean;
  /** True if nothing of a request may leave the gateway before this stage has seen it. */
  readonly guardsRequest?: boolean;
  /** True if `after` needs the whole answer, however long it is. */
  readonly needsWholeAnswer?: boolean;
  isActive(request: GenerationRequest, context: StageContext): boolean;
  /**
   * The report entry for a request that asks for the stage although it cannot work on it; undefined = none. Such a
   * stage is not active.
   */
  unmetWish?(request: GenerationRequest): TranslationEntry | undefined;
  /** Changes the request or answers it; undefined = neither. Throws a GatewayError to refuse it. */
  before?(
    request: GenerationRequest,
    context: StageContext,
  ): Promise<{ readonly request: GenerationRequest } | { readonly served: ServedAnswer } | undefined>;
  /**
   * Runs the rest, once or several times, in sequence or at the same time, and may change the events on their way out.
   * `ir/folding/joined-legs.ts` joins several legs into one answer. `wish`: what stages further out want of the leg.
   */
  around?(
    request: GenerationRequest,
    next: Next,
    context: StageContext,
    wish?: LegWish,
  ): FlowSource<EventBatch>;
  /**
   * For a stage with `around`: whether the end of the leg is the end of the generation, because the stage
   * runs the rest once and waits for nothing afterwards. Absent = it is not.
   */
  endsWithLeg?(context: StageContext): boolean;
  /**
   * For a stage with `around`: true if `before` has found nothing to do; the stage is left out then. Absent =
   * it has.
   */
  isIdle?(context: StageContext): boolean;
  /** Called with a complete and settled answer. `asked`: the parsed request before any stage. */
  after?(answer: GivenAnswer, context: StageContext, asked: GenerationRequest): void;
}

/** Report entries for all stages that a request asks for although they cannot work on it. */
export function unmetWishes(stages: readonly Stage[], request: GenerationRequest): TranslationEntry[] {
  const entries: TranslationEntry[] = [];
  for (const stage of stages) {
    const entry = stage.unmetWish?.(request);
    if (entry !== undefined) entries.push(entry);
  }
  return entries;
}

/** Shared by all generations without active stages. */
const NO_STAGES: readonly Stage[] = [];

/** The active stages of one generation, in the order of the table. */
export class ActiveStages {
  readonly #stages: readonly Stage[];
  readonly #context: StageContext;
  /** The parsed request before any stage. */
  readonly #asked: GenerationRequest;
  readonly notes: PipelineEntry[] = [];
  /** Entries at the end that stay there. */
  #lastNotes = 0;
  /** Whether `before` has left the request as it was; undefined = it has not run. */
  #isUnchanged: boolean | undefined;
  #failureMetadata: JsonObject | undefined;
  #mayKeep = true;

  constructor(
    all: readonly Stage[],
    request: GenerationRequest,
    given: Omit<StageContext, 'note' | 'noteLast' | 'addFailureMetadata' | 'keepNothing' | 'mayKeep'>,
  ) {
    // Added to what was given: a copy of so many members costs several times as much.
    const context: StageContext = Object.assign(given, {
      note: (entry: PipelineEntry) => void this.notes.splice(this.notes.length - this.#lastNotes, 0, entry),
      noteLast: (entry: PipelineEntry) => {
        this.notes.push(entry);
        this.#lastNotes += 1;
      },
      addFailureMetadata: (metadata: JsonObject) => {
        this.#failureMetadata = { ...this.#failureMetadata, ...metadata };
      },
      keepNothing: () => {
        this.#mayKeep = false;
      },
      mayKeep: () => this.#mayKeep,
    });
    const active = all.filter((stage) => stage.isActive(request, context));
    this.#asked = request;
    this.#stages = active.length === 0 ? NO_STAGES : active;
    this.#context = context;
  }

  get isEmpty(): boolean {
    return this.#stages.length === 0;
  }

  /** True if the caller's own body and the upstream's own frames may be forwarded. */
  get mayRelay(): boolean {
    const isUnchanged = this.#isUnchanged === true;
    return this.#stages.every(
      ({ touches, relaysUnchanged }) => touches === 'nothing' || (isUnchanged && relaysUnchanged === true),
    );
  }

  get guardsRequest(): boolean {
    return this.#stages.some(({ guardsRequest }) => guardsRequest === true);
  }

  get runsLegs(): boolean {
    return this.#stages.some((stage) => this.#runsAround(stage));
  }

  get endWithLeg(): boolean {
    return this.#stages.every(
      (stage) => !this.#runsAround(stage) || stage.endsWithLeg?.(this.#context) === true,
    );
  }

  #runsAround({ around, isIdle }: Stage): boolean {
    return around !== undefined && isIdle?.(this.#context) !== true;
  }

  get needsWholeAnswer(): boolean {
    return this.#stages.some(({ needsWholeAnswer }) => needsWholeAnswer === true);
  }

  /** The request after all stages, or the answer of one of them. */
  async before(
    asked: GenerationRequest,
  ): Promise<{ readonly request: GenerationRequest } | { readonly served: ServedAnswer }> {
    let request = asked;
    for (const stage of this.#stages) {
      const outcome = await stage.before?.(request, this.#context);
      if (outcome === undefined) continue;
      if ('served' in outcome) return outcome;
      request = outcome.request;
    }
    this.#isUnchanged = request === asked;
    return { request };
  }

  /** Wraps `core` in the stages that run around it, the first one outermost. */
  around(core: Next): Next {
    return this.#stages.reduceRight<Next>((next, stage) => {
      const { around } = stage;
      if (around === undefined || !this.#runsAround(stage)) return next;
      // A stage that only forwards events need not know the leg's purpose.
      return (request, wish) =>
        around.call(stage, request, (asked, own = wish) => next(asked, own), this.#context, wish);
    }, core);
  }

  explained(failure: GatewayError): GatewayError {
    return this.#failureMetadata === undefined ? failure : failure.withMetadata(this.#failureMetadata);
  }

  note(entry: PipelineEntry): void {
    this.#context.note(entry);
  }

  after(answer: GivenAnswer): void {
    for (const stage of this.#stages) {
      try {
        stage.after?.(answer, this.#context, this.#asked);
      } catch (error) {
        // The answer is settled: a stage that fails afterwards cannot change that.
        this.#context.log.warn('a stage failed after its generation was settled', {
          stage: stage.name,
          generation_id: this.#context.generationId,
          error: String(error),
        });
      }
    }
  }
}
