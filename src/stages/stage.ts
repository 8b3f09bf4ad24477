import type { Catalog } from '../catalog/catalog.ts';
import type { CacheWish } from '../ir/cache-wish.ts';
import type { EventBatch } from '../ir/events.ts';
import type { RequestFormat } from '../ir/items.ts';
import type { ChargeKind, LegKind } from '../ir/leg.ts';
import type { PipelineEntry, TranslationEntry } from '../ir/metadata.ts';
import type { GenerationRequest } from '../ir/request.ts';
import type { Result } from '../ir/result.ts';
import type { JsonObject } from '../kit/json/json.ts';
import type { Log } from '../kit/log/log.ts';
import type { Nanos } from '../kit/money.ts';
import type { Caller } from '../ports/caller.ts';
import type { Workspace } from '../ports/tenancy.ts';

/** What a stage wants of a leg besides its request. */
export interface LegWish {
  /** What it is for; absent = it is the caller's answer. */
  readonly kind?: LegKind;
  /** Only the endpoint that served the main leg before may serve; the leg fails where that is not possible. */
  readonly isPinned?: boolean;
}

/**
 * Runs the rest of the pipeline, down to the upstream: one leg. Nothing runs until it is pulled. It ends with one
 * terminal event, and its account is closed by then. A leg that limits do not pay for ends at once, with `budget`;
 * one that fails after the first ends with a failure.
 */
export type Next = (request: GenerationRequest, wish?: LegWish) => AsyncIterable<EventBatch>;

/** Something that was paid for, until it turns out that it was not delivered. */
export interface PaidCharge {
  /** Takes it back. */
  waive(): Promise<void>;
}

/** What the operator has set that stages go by. */
export interface StageSettings {
  /** The word that the operator's own headers and tools begin with. */
  readonly vendor: string;
  readonly region: string | null;
  /** Path that the interface answers under. */
  readonly basePath: string;
  readonly catalog: Catalog;
  /** The service that judges texts; undefined = none. */
  readonly moderation: ModerationSettings | undefined;
}

export interface ModerationSettings {
  /** Slug of the provider. */
  readonly provider: string;
  /** The provider's name of the model. */
  readonly model: string;
}

/** What a stage knows of the generation that it works on, and how it speaks of what it did. */
export interface StageContext {
  readonly generationId: string;
  readonly caller: Caller;
  readonly workspace: Workspace;
  readonly settings: StageSettings;
  readonly format: RequestFormat;
  /** The body as the caller sent it. */
  readonly body: JsonObject;
  /** Absent = no caching is asked for. */
  readonly cache: CacheWish | undefined;
  /** Aborted when the caller goes away or the deadline passes. */
  readonly signal: AbortSignal;
  /** Epoch milliseconds. */
  now(): number;
  readonly log: Pick<Log, 'warn'>;
  /**
   * Pays for something that is not a model call, before it is done: reserved, written down and part of the
   * generation's cost. Undefined: limits do not leave so much. Rejects with LedgerUnavailable, and after the end of
   * the answer.
   */
  charge(kind: ChargeKind, nanos: Nanos): Promise<PaidCharge | undefined>;
  /** Adds an entry to the pipeline of the routing metadata. */
  note(entry: PipelineEntry): void;
  /** Adds a header to the reply. `name`: without the operator's word. Before the reply begins, else to no effect. */
  header(name: string, value: string): void;
}

/** An answer, and who gave it. */
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
  /** The generation whose answer it was; null = none. */
  readonly sourceId: string | null;
}

/**
 * One step of a generation: guardrails, plugins and the cache all have this shape. It runs at up to three places:
 * before a model is chosen and money is reserved, around the calls of models, and after the generation is settled.
 */
export interface Stage {
  readonly name: string;
  /** What it may change. With `nothing` a generation stays on the relay lane. */
  readonly touches: 'nothing' | 'request' | 'answer';
  /** The answer that `after` is shown must be whole, however long it is. */
  readonly needsWholeAnswer?: boolean;
  /** Whether the stage has anything to do for this request. */
  isActive(request: GenerationRequest, context: StageContext): boolean;
  /**
   * The report entry for a request that asks for the stage although it cannot work on it; undefined = none. Such a stage
   * is not active.
   */
  unmetWish?(request: GenerationRequest): TranslationEntry | undefined;
  /** Changes the request or answers it; undefined = neither. Throws a GatewayError to refuse it. */
  before?(
    request: GenerationRequest,
    context: StageContext,
  ): Promise<{ readonly request: GenerationRequest } | { readonly served: ServedAnswer } | undefined>;
  /**
   * Runs the rest, once or several times, one after the other or at the same time, and may change the events on their
   * way out. `ir/joined-legs.ts` makes one answer of several.
   */
  around?(request: GenerationRequest, next: Next, context: StageContext): AsyncIterable<EventBatch>;
  /** Gets an answer that came to its end and is settled. `asked`: the request as it was read, before any stage. */
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

/** What a generation that no stage works on shares with all others. */
const NO_STAGES: readonly Stage[] = [];

/** The stages of one generation: those that have something to do, in the order of the table. */
export class ActiveStages {
  readonly #stages: readonly Stage[];
  readonly #context: StageContext;
  /** The request as it was read, before any stage. */
  readonly #asked: GenerationRequest;
  /** What they have noted by now. */
  readonly notes: PipelineEntry[] = [];

  constructor(all: readonly Stage[], request: GenerationRequest, given: Omit<StageContext, 'note'>) {
    const context = { ...given, note: (entry: PipelineEntry) => void this.notes.push(entry) };
    const active = all.filter((stage) => stage.isActive(request, context));
    this.#asked = request;
    this.#stages = active.length === 0 ? NO_STAGES : active;
    this.#context = context;
  }

  /** No stage has anything to do. */
  get isEmpty(): boolean {
    return this.#stages.length === 0;
  }

  /** Whether the caller's own body and the upstream's own frames may be passed on. */
  get mayRelay(): boolean {
    return this.#stages.every(({ touches }) => touches === 'nothing');
  }

  /** Whether a stage runs the legs. */
  get runsLegs(): boolean {
    return this.#stages.some(({ around }) => around !== undefined);
  }

  get needsWholeAnswer(): boolean {
    return this.#stages.some(({ needsWholeAnswer }) => needsWholeAnswer === true);
  }

  /** What is left to be asked of a model, or the answer where a stage has one. */
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
    return { request };
  }

  /** Wraps `core` in the stages that run around it, the first one outermost. */
  around(core: Next): Next {
    return this.#stages.reduceRight<Next>((next, stage) => {
      const { around } = stage;
      if (around === undefined) return next;
      // A stage that only passes events on need not know what the leg is for.
      return (request, wish) =>
        around.call(stage, request, (asked, own = wish) => next(asked, own), this.#context);
    }, core);
  }

  /** Adds an entry to the pipeline of the routing metadata. */
  note(entry: PipelineEntry): void {
    this.#context.note(entry);
  }

  after(answer: GivenAnswer): void {
    for (const stage of this.#stages) {
      try {
        stage.after?.(answer, this.#context, this.#asked);
      } catch (error) {
        // The answer is settled: what a stage does with it afterwards cannot change that.
        this.#context.log.warn('a stage failed after its generation was settled', {
          stage: stage.name,
          generation_id: this.#context.generationId,
          error: String(error),
        });
      }
    }
  }
}
