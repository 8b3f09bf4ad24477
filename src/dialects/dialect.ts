import type { TSchema } from 'typebox';
import type { GatewayError } from '../ir/errors.ts';
import type { Event, EventBatch, Seal } from '../ir/events.ts';
import type { FormatFacts } from '../ir/format-facts.ts';
import type { DialectName, EmbeddingDialectName, Format, RequestFormat } from '../ir/items.ts';
import type { TranslationEntry } from '../ir/metadata.ts';
import type { Quirks } from '../ir/quirks.ts';
import type { GenerationRequest } from '../ir/request.ts';
import type { Result } from '../ir/result.ts';
import type { Effort } from '../ir/settings.ts';
import type { Frame, FrameReader } from '../kit/frames/frames.ts';
import type { ExactNumbers } from '../kit/json/exact-numbers.ts';
import type { JsonObject } from '../kit/json/json.ts';
import type { Issue } from '../kit/json/validate.ts';
import type { MediaMembers } from './shared/media/check-media.ts';
import type { FileParts } from './shared/media/stored-files.ts';
import type { PresetForm } from './shared/presets/preset-form.ts';
import type { SealsTaken } from './shared/reasoning/seals-taken.ts';
import type { ItemReferences } from './shared/requests/item-references.ts';

/**
 * A wire dialect: everything about it that other code asks for.
 *
 * Files of one name have their sections in the same order in every dialect:
 * - `decode.ts`: `createDecoder`; The answer (`AnswerReader`: `read`, `finish`, `cut`, `miss`, `fail`) with Start and
 *   end, then Content; Whole bodies (`decodeBody`)
 * - `encode.ts`: `createEncoder`; the encoder with Content, Relay, The end
 * - `relay.ts`: `renderRelay`; then what it changes: content, reasoning, output limit, other settings
 * - `finish.ts`: the upstream's words, `readFinish`; then the caller's words, `renderFinish`
 *
 * Content that needs a file of its own is in `decode-content.ts`, `encode-content.ts` and so on.
 */
export interface Dialect {
  readonly name: DialectName | EmbeddingDialectName;
  /** Absent = only upstreams speak it. */
  readonly inbound?: InboundDialect;
  readonly upstream: UpstreamDialect;
  readonly facts: DialectFacts;
}

/** A dialect that callers speak too: a format. */
export interface FormatDialect extends Dialect {
  readonly name: RequestFormat;
  readonly inbound: InboundDialect;
  readonly facts: FormatDialectFacts;
}

/** A format of conversations. */
export interface ConversationDialect extends FormatDialect {
  readonly name: Format;
}

/** What is particular to a dialect besides how it is read and written. */
export interface DialectFacts {
  readonly seals: SealsTaken;
  /** How upstreams learn the betas that a caller asked for; absent = they have none. */
  readonly betaCarrier?: 'header' | 'body';
  /** Speeds that upstreams are asked for instead of a service tier, by tier; absent = the service tier is sent. */
  readonly speeds?: Readonly<Partial<Record<'flex' | 'priority', 'fast'>>>;
  /** Upstreams add the definitions of their own tools to the prompt, and bill them. */
  readonly addsToolDefinitions?: boolean;
  /** Models count an image by its tiles unless their name is known to mean otherwise. */
  readonly countsImageTiles?: boolean;
}

/** The same of a format. */
export interface FormatDialectFacts extends DialectFacts {
  /** Carried by each request of the format. */
  readonly request: FormatFacts;
  readonly media: MediaMembers;
  readonly preset: PresetForm;
  /** Bodies may name a prompt template, which is filled in before parsing. */
  readonly hasPromptTemplates?: boolean;
  /** The smallest valid body, for checks of presets. */
  readonly minimalRequest: JsonObject;
  /** The conversation of a body, as it is kept with the record of a generation. */
  recordedInput(body: JsonObject): JsonObject;
  /** Thoughts come as summaries if the request asks for them. */
  readonly summarizesThoughts?: boolean;
  /** A seal as upstreams of the format mint them, for the simulator. */
  simulatedSeal(token: string): Seal;
}

/** What parsing a request needs to know besides the body. */
export interface ParseContext {
  /** The operator's word in identifiers (`<vendor>:web_search`). */
  readonly vendor: string;
  /** Long numbers of the body. */
  readonly exactNumbers?: ExactNumbers | undefined;
}

/** What encoding an answer needs to know besides its events. Fixed once the serving endpoint is known. */
export interface ReplyContext {
  readonly vendor: string;
  readonly request: GenerationRequest;
  /** `gen-...`: made first, sent as `X-Generation-Id`, the root of every other id in the reply. */
  readonly generationId: string;
  /** Epoch milliseconds at which the request was accepted. */
  readonly createdAtMs: number;
  /** Now, epoch milliseconds; called once, at the end. */
  readonly now: () => number;
  /** Public slug of the model that serves. */
  readonly model: string;
  /** Display name of the provider that serves. */
  readonly provider: string;
  /** Tier that serves: `default`, `flex` or `priority`. */
  readonly serviceTier: string;
  /** Told of every output item as it was written, once it is whole or cut short. Absent = nothing of the answer may be kept. */
  readonly keepItem?: ((item: JsonObject) => void) | undefined;
}

/** Turns events into the bytes of a stream. Holds the state of one reply; pure and synchronous. */
export interface StreamEncoder {
  /**
   * The text to write for a batch; may be empty. A terminal event writes everything up to the end marker. After it
   * nothing more is written.
   */
  encode(batch: EventBatch): string;
  /** What to write when nothing has happened for a while. */
  keepAlive(): string;
  /** The stream is over, for whatever reason: nothing more is written. */
  close?(): void;
}

/** The half of a dialect that callers speak: requests in, answers out. */
export interface InboundDialect {
  /** Schema of the request body; also what the OpenAPI document shows. */
  readonly requestSchema: (vendor: string) => TSchema;
  /** Fields that speak to the gateway and never go upstream. */
  readonly gatewayFields: ReadonlySet<string>;
  /** Where bodies name files, and how their content is written there. */
  readonly fileParts: FileParts;
  /** Where bodies name output items of earlier answers; absent = the format has no such references. */
  readonly itemReferences?: ItemReferences;
  /** Members of a body that hold its messages, parts and tools; the first names them all in an error. */
  readonly pieceLists: readonly [string, ...string[]];
  /** Reads a validated body of bounded size. Throws a GatewayError (400, 422) for what the schema cannot say. */
  parseRequest(body: JsonObject, context: ParseContext): GenerationRequest;
  /** Items and parts that only an upstream of the same format can take, because their type is unknown. */
  untranslatableIssues(request: GenerationRequest): Issue[];
  createEncoder(context: ReplyContext): StreamEncoder;
  /** Whether a whole answer that failed after one of its legs had been completed is told as an answer, not as an error. */
  readonly encodesFailedAnswers?: boolean;
  /** The non-streaming reply. A result that failed is given here only where the format `encodesFailedAnswers`. */
  encodeBody(result: Result, context: ReplyContext): JsonObject;
  /** Body of an HTTP error. */
  encodeError(error: GatewayError, context: ErrorContext): JsonObject;
}

export interface ErrorContext {
  readonly vendor: string;
  /** Null before routing. */
  readonly generationId: string | null;
  /** Account id, once authenticated. */
  readonly userId?: string;
}

/** The endpoint that a request is rendered for. */
export interface RenderTarget {
  /** The upstream's own name of the model. */
  readonly model: string;
  /** Most output tokens that the endpoint may be asked for (`catalog/output-limit.ts`); absent = unlimited. */
  readonly outputLimit?: number;
  /** Parameters the endpoint takes, as in the public model lists; absent = all. */
  readonly supportedParameters?: ReadonlySet<string>;
  /** Efforts that the model is known to have; absent = not known. */
  readonly supportedEfforts?: readonly Effort[];
  /** Whether the model takes a thinking budget in tokens; absent = not known. Where not, requests come without one. */
  readonly takesBudget?: boolean;
  /** The model cannot be told not to think; absent = not known. */
  readonly alwaysThinks?: boolean;
  /** What the provider does otherwise than its dialect says; absent = nothing. */
  readonly quirks?: Quirks;
  /** Betas of the messages format that the caller asked for, for dialects that name them in the body. */
  readonly betas?: readonly string[];
  /** Keyed hash of an end-user id: what leaves the gateway instead of the id. */
  readonly hashUser: (id: string) => string;
}

/** A request in an upstream's words. */
export interface RenderedRequest {
  readonly body: JsonObject;
  /** Headers that belong to the dialect (versions, betas); credentials are added later. */
  readonly headers: Readonly<Record<string, string>>;
  readonly report: readonly TranslationEntry[];
}

/** The headers of a dialect that has none of its own. */
export const NO_HEADERS: RenderedRequest['headers'] = {};

/** Reads the frames of one upstream stream. Holds the state of one answer; pure and synchronous. */
export interface StreamDecoder {
  /** What a frame means. Lenient: what cannot be read is skipped or becomes a `failure`; never throws. */
  decode(frame: Frame): Event[];
  /** The bytes have ended: a stream without its terminal event becomes a `failure`. Empty after a terminal event. */
  end(): Event[];
}

/** What reading an answer needs to know of its request. */
export interface DecodeContext {
  readonly request: GenerationRequest;
  /** Prefix of ids that we make when the upstream sends none; unique per answer. */
  readonly idSeed?: string;
  /** What the provider does otherwise than its dialect says; absent = nothing. */
  readonly quirks?: Quirks | undefined;
  /** True in the relay lane: wrap what is read in `relay` events, frame by frame. */
  readonly relay: boolean;
  /** Headers of the reply, with lower-case names; absent = not known. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** What an upstream says about a failure, read from an error body. */
export interface UpstreamErrorInfo {
  readonly message: string;
  /** The upstream's own code or type. */
  readonly code?: string;
  /** When to try again, where the body rather than a header says so. */
  readonly retryAfterSeconds?: number;
}

/** How a request lets upstreams of a dialect search the web by themselves. */
export interface SearchRules {
  /**
   * Searches that the request allows: 0 = none, infinite = as many as the upstream likes. `supported`: the parameters that
   * the endpoint takes; undefined = all.
   */
  asked(request: GenerationRequest, supported?: ReadonlySet<string>): number;
  /** The request with at most `most` searches, and the field that says so; absent = the dialect has no such field. */
  bound?(
    request: GenerationRequest,
    most: number,
  ): { readonly request: GenerationRequest; readonly field: string };
}

/** What upstreams of embeddings take in one call. */
export interface EmbeddingLimits {
  /** Inputs. A request with more is split over several calls (`upstream/call/in-pieces.ts`). */
  maxInputs(model: string): number;
  /** Ids of tokens as inputs: they mean something only to upstreams with the tokenizer they were made by. */
  readonly takesTokenIds: boolean;
}

/** The half of a dialect that upstreams speak: requests out, answers in. */
export interface UpstreamDialect {
  /** Present on dialects of embeddings. */
  readonly embeddings?: EmbeddingLimits;
  /** Values that a whole answer may hold; absent = as many as a model could write. */
  readonly maxAnswerValues?: number;
  /** Ends of base addresses that belong to other interfaces of its providers: the path replaces them. */
  readonly replacedPaths?: readonly string[];
  /** Path below the provider's base address, for a given model. */
  path(model: string, stream: boolean): string;
  /** Media type of its streams. */
  readonly streamType: string;
  /** How its streams are cut into frames, each of at most `maxBytes`. */
  createFrameReader(maxBytes: number): FrameReader;
  renderRequest(request: GenerationRequest, target: RenderTarget): RenderedRequest;
  /** Relay lane: the caller's own body, with only what must change changed. Only for requests of the same format. */
  renderRelay(request: GenerationRequest, target: RenderTarget): RenderedRequest;
  /** Absent = its upstreams are never asked to search. */
  readonly searches?: SearchRules;
  createDecoder(context: DecodeContext): StreamDecoder;
  /** Events of a whole non-streaming body; a body that is no answer becomes a `failure`. Never throws. */
  decodeBody(body: JsonObject, context: DecodeContext): Event[];
  /** What an error body says; undefined when it says nothing. `headers`: with lower-case names. Never throws. */
  readError(body: unknown, headers?: Readonly<Record<string, string>>): UpstreamErrorInfo | undefined;
}
