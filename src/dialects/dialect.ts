import type { TSchema } from 'typebox';
import type { ErrorKind, GatewayError } from '../ir/errors.ts';
import type { Event, EventBatch } from '../ir/events.ts';
import type {
  DialectName,
  EmbeddingDialectName,
  Format,
  Item,
  OpaqueItem,
  RequestFormat,
} from '../ir/items.ts';
import type { TranslationEntry } from '../ir/metadata.ts';
import type { Quirks } from '../ir/quirks.ts';
import type { CallableTool, GenerationRequest, Tool } from '../ir/request.ts';
import type { Result } from '../ir/result.ts';
import type { Effort } from '../ir/settings.ts';
import type { Frame, FrameReader } from '../kit/frames/frames.ts';
import type { ExactNumbers } from '../kit/json/exact-numbers.ts';
import type { JsonObject } from '../kit/json/json.ts';
import type {
  ConversationFacts,
  ConversationFormatFacts,
  DialectFacts,
  FormatDialectFacts,
} from './dialect-facts.ts';
import type { FileParts } from './shared/media/stored-files.ts';
import type { ItemReferences } from './shared/requests/item-references.ts';
import type { HostedTools } from './shared/tools/hosted-tools.ts';

/**
 * A wire dialect: everything that other code needs to know about it.
 *
 * Files of one name have the same sections in the same order in every dialect, each those that apply to it, and the
 * same names for the same functions, so that two dialects can be compared side by side. `test/architecture.test.ts`
 * lists both.
 *
 * Content that needs a file of its own is in `decode-content.ts`, `encode-content.ts` and so on.
 */
export interface Dialect {
  readonly name: DialectName | EmbeddingDialectName | 'decisions' | 'system-one' | 'compaction';
  /** Absent = only upstreams speak it. */
  readonly inbound?: InboundDialect;
  readonly upstream: UpstreamDialect;
  readonly facts?: DialectFacts;
}

export interface ConversationDialect extends Dialect {
  readonly name: DialectName;
  readonly upstream: ConversationUpstream;
  readonly facts: ConversationFacts;
  /** The dialect that its providers speak for embeddings; absent = the embeddings format. */
  readonly embeddings?: EmbeddingDialect;
}

/** A dialect of embeddings. */
export interface EmbeddingDialect extends Dialect {
  readonly name: EmbeddingDialectName;
  readonly upstream: EmbeddingUpstream;
}

/** A dialect that callers speak too: a format. */
export interface FormatDialect extends Dialect {
  readonly name: RequestFormat;
  readonly inbound: InboundDialect;
  readonly facts: FormatDialectFacts;
}

export interface ConversationFormat extends ConversationDialect, FormatDialect {
  readonly name: Format;
  readonly inbound: ConversationInbound;
  readonly upstream: RelayedUpstream;
  readonly facts: ConversationFormatFacts;
}

/** True for a format of conversations: only their answers are streamed. */
export function hasConversations(format: FormatDialect): format is ConversationFormat {
  return format.inbound.createEncoder !== undefined;
}

/** The format of decisions. Upstreams that have none answer it as a conversation. */
export interface DecisionFormat extends FormatDialect {
  readonly name: 'decisions';
  /** What upstreams speak that answer decisions in the other form. */
  readonly systemOne: Dialect;
}

/** The format of embeddings. */
export interface EmbeddingFormat extends EmbeddingDialect, FormatDialect {
  readonly name: 'embeddings';
  readonly inbound: InboundDialect;
  readonly upstream: EmbeddingUpstream;
  readonly facts: FormatDialectFacts;
}

/** Context of parsing besides the body. */
export interface ParseContext {
  /** The operator's prefix of identifiers (`<vendor>:web_search`). */
  readonly vendor: string;
  /** Long numbers of the body. */
  readonly exactNumbers?: ExactNumbers | undefined;
  /** The caller's betas of the messages format, with commas between. */
  readonly betas?: string | undefined;
  /** The caller's version of the messages format. */
  readonly apiVersion?: string | undefined;
}

/** Context of encoding an answer. Fixed once the serving endpoint is known. */
export interface ReplyContext {
  readonly vendor: string;
  readonly request: GenerationRequest;
  /** `gen-...`: made first, sent as `X-Generation-Id`, and the root of every other id in the reply. */
  readonly generationId: string;
  /** Acceptance of the request, epoch milliseconds. */
  readonly createdAtMs: number;
  /** Current time, epoch milliseconds; called once, at the end. */
  readonly now: () => number;
  /** Public slug of the serving model. */
  readonly model: string;
  /** Display name of the serving provider. */
  readonly provider: string;
  /** Serving tier: `default`, `flex` or `priority`. */
  readonly serviceTier: string;
  /**
   * Called with every output item as written, once it is complete or cut short. Absent = nothing of the answer may be
   * kept.
   */
  readonly keepItem?: ((item: JsonObject) => void) | undefined;
}

/** Turns events into the bytes of a stream. Holds the state of one reply; pure and synchronous. */
export interface StreamEncoder {
  /**
   * The text for a batch; may be empty. A terminal event writes everything up to the end marker, and nothing follows
   * it.
   */
  encode(batch: EventBatch): string;
  /** The text to write after a period without events. */
  keepAlive(): string;
  /** The stream is over, for whatever reason: nothing more is written. */
  close?(): void;
}

/** Items that every dialect has, in the place of one that only its own has. */
export interface CarriedItem {
  readonly items: readonly Item[];
  /** For the report: what became of the item. */
  readonly detail: string;
}

/** Reads an item; `role`: of the message that it stood in. Undefined = it shows nothing that a model could read. */
export type ItemReader = (value: JsonObject, role: OpaqueItem['role']) => CarriedItem | undefined;

/** Settings that an item of a conversation changes from its place on. */
export type ItemSettings = Pick<GenerationRequest, 'reasoning' | 'outputFormat' | 'verbosity'>;

/** A format's own request to count the tokens of a prompt. */
export interface CountingInbound {
  /** Schema of a body that is only counted. */
  readonly requestSchema: (vendor: string) => TSchema;
  encodeCount(inputTokens: number): JsonObject;
}

/** The half of a dialect that callers speak: requests in, answers out. */
export interface InboundDialect {
  /** Schema of the request body; also shown in the OpenAPI document. */
  readonly requestSchema: (vendor: string) => TSchema;
  /** How the format counts the tokens of a prompt; absent = it has no route for that. */
  readonly counting?: CountingInbound;
  /** Fields for the gateway, which never go upstream. */
  readonly gatewayFields: ReadonlySet<string>;
  /** How bodies name files, and how their content is inserted; absent = they name none. */
  readonly fileParts?: FileParts;
  /** How bodies refer to output items of earlier answers; absent = the format has no such references. */
  readonly itemReferences?: ItemReferences;
  /**
   * Reads items of a conversation that other dialects do not have: calls of hosted tools, messages between agents.
   * Absent = the format has no such items. `numbers`: long numbers of the body.
   */
  readonly carriedItems?: (items: readonly Item[], numbers?: ExactNumbers) => ItemReader;
  /**
   * What an item changes in the settings of the request; undefined = nothing. Absent = the format has no such items.
   */
  readonly settingsOfItem?: (value: JsonObject, request: GenerationRequest) => ItemSettings | undefined;
  /**
   * A function for a tool that other dialects do not have and the caller runs. Undefined = the tool is of another kind.
   * Absent = the format has no such tools. `tools`: all tools of the request, whose names are taken.
   */
  readonly functionOfTool?: (value: JsonObject, tools: readonly Tool[]) => CallableTool | undefined;
  /** Members of a body with its messages, parts and tools; the first one stands for all of them in an error. */
  readonly pieceLists: readonly [string, ...string[]];
  /**
   * Parses a validated body of bounded size. Throws a GatewayError (400, 422) for conditions that the schema cannot
   * express.
   */
  parseRequest(body: JsonObject, context: ParseContext): GenerationRequest;
  /**
   * True if the request has items or parts of types that only an upstream of the same format may know: its endpoints
   * come first. Absent = these make no difference.
   */
  hasUnknownTypes?(request: GenerationRequest): boolean;
  /** Absent = answers are never streamed. */
  createEncoder?(context: ReplyContext): StreamEncoder;
  /** Kinds of early failures that a streamed request gets in its stream, not as an HTTP error; absent = none. */
  readonly streamedFailures?: ReadonlySet<ErrorKind>;
  /** True if a whole answer that failed after a completed leg is encoded as an answer, not as an error. */
  readonly encodesFailedAnswers?: boolean;
  /** The non-streaming reply. Gets a failed result only if the format `encodesFailedAnswers`. */
  encodeBody(result: Result, context: ReplyContext): JsonObject;
  /** Body of an HTTP error. */
  encodeError(error: GatewayError, context: ErrorContext): JsonObject;
}

/** The members that every format of conversations has. */
export type ConversationInbound = InboundDialect &
  Required<Pick<InboundDialect, 'fileParts' | 'createEncoder'>>;

export interface ErrorContext {
  readonly vendor: string;
  /** Null before routing. */
  readonly generationId: string | null;
  /** Account id, once authenticated. */
  readonly userId?: string;
}

/** The endpoint that a request is rendered for. */
export interface RenderTarget {
  /** The upstream's name of the model. */
  readonly model: string;
  /** Most output tokens that the endpoint may be asked for (`catalog/output-limit.ts`); absent = unlimited. */
  readonly outputLimit?: number | undefined;
  /** Parameters of the endpoint, as in the public model lists; absent = all. */
  readonly supportedParameters?: ReadonlySet<string> | undefined;
  /** Efforts that the model has; absent = unknown. */
  readonly supportedEfforts?: readonly Effort[] | undefined;
  /** True if the model takes a thinking budget in tokens; absent = unknown. If false, requests have none. */
  readonly takesBudget?: boolean | undefined;
  /** True if thinking cannot be switched off; absent = unknown. */
  readonly alwaysThinks?: boolean | undefined;
  /** Deviations of the provider from its dialect; absent = none. */
  readonly quirks?: Quirks | undefined;
  /** Requested betas of the messages format, for dialects that name them in the body. */
  readonly betas?: readonly string[] | undefined;
  /** Keyed hash of an end-user id, which is sent instead of the id. */
  readonly hashUser: (id: string) => string;
}

export interface RenderedRequest {
  readonly body: JsonObject;
  /** Headers of the dialect (versions, betas); credentials are added later. */
  readonly headers: Readonly<Record<string, string>>;
  readonly report: readonly TranslationEntry[];
}

/** For dialects without headers of their own. */
export const NO_HEADERS: RenderedRequest['headers'] = {};

/** Decodes the frames of one upstream stream. Holds the state of one answer; pure and synchronous. */
export interface StreamDecoder {
  /** Decodes a frame. Lenient: unreadable parts are skipped or become a `failure`; never throws. */
  decode(frame: Frame): Event[];
  /** The bytes have ended: a stream without a terminal event becomes a `failure`. Empty after a terminal event. */
  end(): Event[];
}

/** Context of decoding an answer. */
export interface DecodeContext {
  readonly request: GenerationRequest;
  /** Prefix of ids that we make if the upstream sends none; unique per answer. */
  readonly idSeed?: string;
  /** Deviations of the provider from its dialect; absent = none. */
  readonly quirks?: Quirks | undefined;
  /** True in the relay lane: wraps the events of each frame in a `relay` event. */
  readonly relay: boolean;
  /** Headers of the reply, with lower-case names; absent = unknown. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Error of an upstream, read from an error body. */
export interface UpstreamErrorInfo {
  readonly message: string;
  /** The upstream's own code or type. */
  readonly code?: string;
  /** Seconds until a retry, if the body rather than a header names them. */
  readonly retryAfterSeconds?: number;
}

/** Limits of one embeddings call. */
export interface EmbeddingLimits {
  /** Inputs. A request with more is split over several calls (`upstream/call/in-pieces.ts`). */
  maxInputs(model: string): number;
  /** True if token ids are accepted as inputs: they depend on the upstream's tokenizer. */
  readonly takesTokenIds: boolean;
}

/** How upstreams of a dialect count the tokens of a prompt. */
export interface TokenCounting {
  /** Path below the provider's base address, for a model. */
  path(model: string): string;
  renderRequest(request: GenerationRequest, target: RenderTarget): RenderedRequest;
  /** The count in a reply; undefined if it has none. */
  readCount(body: JsonObject): number | undefined;
}

/** How upstreams of a dialect list their models. */
export interface ModelListQuestion {
  /** Path below the provider's base address, with a query for as many as one answer holds. */
  readonly path: string;
  /** Lower-case names. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** The half of a dialect that upstreams speak: requests out, answers in. */
export interface UpstreamDialect {
  /** Present on dialects of embeddings. */
  readonly embeddings?: EmbeddingLimits;
  /** Values that a whole answer may have; absent = as many as a model could write. */
  readonly maxAnswerValues?: number;
  /** Members of a whole answer that repeat the request, which may hold more values than an answer; absent = none. */
  readonly echoes?: ReadonlySet<string>;
  /** The member that holds log probabilities, at any depth of a whole answer; absent = none. */
  readonly logProbabilities?: string;
  /** Ends of base addresses that belong to other interfaces of its providers: the path replaces them. */
  readonly replacedPaths?: readonly string[];
  /** Its requests have no limit of output: an upstream may write as much as it likes. */
  readonly takesNoLimit?: true;
  /** Path below the provider's base address, for a model. */
  path(model: string, stream: boolean): string;
  renderRequest(request: GenerationRequest, target: RenderTarget): RenderedRequest;
  /**
   * Relay lane: the caller's own body with only the necessary changes. Only for requests of the same format; absent =
   * `renderRequest` makes it.
   */
  renderRelay?(request: GenerationRequest, target: RenderTarget): RenderedRequest;
  /** Absent = its upstreams do not count tokens. */
  readonly countTokens?: TokenCounting;
  /** Absent = its upstreams have no list of models. */
  readonly modelList?: ModelListQuestion;
  /** Absent = its upstreams run no tools. */
  readonly hosted?: HostedTools;
  /** Media type of its streams; absent, as are the next two, if answers are never streamed. */
  readonly streamType?: string;
  /** Splits its streams into frames, each of at most `maxBytes`. */
  createFrameReader?(maxBytes: number): FrameReader;
  createDecoder?(context: DecodeContext): StreamDecoder;
  /** Decodes a whole non-streaming body; one without an answer becomes a `failure`. Never throws. */
  decodeBody(body: JsonObject, context: DecodeContext): Event[];
  /** Reads an error body; undefined if it has no error. `headers`: with lower-case names. Never throws. */
  readError(body: unknown, headers?: Readonly<Record<string, string>>): UpstreamErrorInfo | undefined;
}

/** The members that every dialect of conversations has. */
export type ConversationUpstream = UpstreamDialect &
  Required<Pick<UpstreamDialect, 'streamType' | 'createFrameReader' | 'createDecoder'>>;

/** The members that every format of conversations has. */
export type RelayedUpstream = ConversationUpstream & Required<Pick<UpstreamDialect, 'renderRelay'>>;

/** The members that every dialect of embeddings has. */
export type EmbeddingUpstream = UpstreamDialect & Required<Pick<UpstreamDialect, 'embeddings'>>;

/** True if answers may be streamed. */
export function isStreaming(upstream: UpstreamDialect): upstream is ConversationUpstream {
  return upstream.createDecoder !== undefined;
}
