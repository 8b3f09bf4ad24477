import type { ExactNumbers } from '../kit/json/exact-numbers.ts';
import type { JsonObject } from '../kit/json/json.ts';
import type { UnlistedMember } from '../kit/json/unlisted-members.ts';
import type { DecisionSettings } from './decision.ts';
import type { EmbeddingSettings } from './embedding.ts';
import type { FormatFacts } from './format-facts.ts';
import type { CacheMark, DialectName, Ext, Format, Item, RequestFormat } from './items.ts';
import type { TranslationEntry } from './metadata.ts';
import type { Places } from './places.ts';
import type { ReasoningSettings, Sampling } from './settings.ts';
import type { WireWatch } from './wire-watch.ts';

/** A tool the model may call. */
export type Tool =
  | {
      readonly type: 'function';
      readonly name: string;
      readonly description?: string;
      /** JSON Schema of the arguments. */
      readonly parameters?: JsonObject;
      readonly strict?: boolean;
      readonly namespace?: ToolNamespace;
      readonly cache?: CacheMark;
      readonly ext?: Ext;
    }
  | {
      readonly type: 'custom';
      readonly name: string;
      readonly description?: string;
      /** `{type: text}` or a grammar, as the responses format writes it. */
      readonly format?: JsonObject;
      readonly namespace?: ToolNamespace;
      readonly ext?: Ext;
    }
  /** A tool that the provider runs, in the words of the dialect that it is for. */
  | {
      readonly type: 'hosted';
      readonly dialect: DialectName;
      readonly kind: string;
      readonly value: JsonObject;
    };

/** A named group of tools. */
export interface ToolNamespace {
  readonly name: string;
  readonly description?: string;
}

/** A tool that the caller runs. */
export type CallableTool = Exclude<Tool, { type: 'hosted' }>;

export type ToolChoice =
  | { readonly mode: 'auto' | 'none' | 'required' }
  | { readonly mode: 'tool'; readonly kind: 'function' | 'custom'; readonly name: string }
  /** Only the named tools, optionally one of them for sure. */
  | { readonly mode: 'allowed'; readonly required: boolean; readonly tools: readonly JsonObject[] }
  /** A hosted tool by its type, in the words of the format it came in. */
  | { readonly mode: 'hosted'; readonly dialect: Format; readonly value: JsonObject };

export type OutputFormat =
  | { readonly type: 'text' }
  | { readonly type: 'json' }
  | {
      readonly type: 'json-schema';
      readonly name: string;
      readonly schema: JsonObject;
      readonly description?: string;
      readonly strict?: boolean;
    }
  | { readonly type: 'opaque'; readonly dialect: Format; readonly value: JsonObject };

/** Wishes of the request for routing: never sent upstream as such. */
export interface RoutingWishes {
  /** The `provider` object, validated, null members removed. */
  readonly provider: JsonObject;
  /** Full slugs of the endpoints that a stage has adapted the request to; absent = any. */
  readonly endpoints?: readonly string[];
  readonly route?: 'fallback' | 'sort';
  readonly sessionId?: string;
  /** Plugins that are switched on, in order. */
  readonly plugins: readonly JsonObject[];
  readonly stopServerToolsWhen?: readonly JsonObject[];
  readonly maxToolCalls?: number;
  readonly trace?: JsonObject;
}

/** A member of a body that the format does not document, or a documented member with an unknown value. */
export interface UndocumentedMember extends UnlistedMember {
  /** True inside a field that never goes upstream. */
  readonly isForGateway: boolean;
}

/** A generation request in the gateway's own words. Immutable: every attempt renders it afresh. */
export interface GenerationRequest {
  /** The format it came in, and its answer goes out in. */
  readonly format: RequestFormat;
  readonly formatFacts: FormatFacts;
  /**
   * The caller's parsed body, prompt template filled in. For the relay lane and echoes; never changed. Third escape.
   */
  readonly body: JsonObject;
  /** Long numbers of the body, and of the answer; absent = their digits are not kept. */
  readonly exactNumbers?: ExactNumbers | undefined;
  /** Model ids in order of preference, as the caller wrote them; at least one. */
  readonly models: readonly string[];
  /** True when the list came from `models` or `fallbacks` rather than one `model`. */
  readonly hasFallbackModels: boolean;
  /** The conversation, in order. System and developer prompts are message items at their place. */
  readonly items: readonly Item[];
  /** Present on requests for embeddings, which have no items. */
  readonly embedding?: EmbeddingSettings | undefined;
  /** Present on requests for decisions, whose items and output format the gateway has made. */
  readonly decision?: DecisionSettings;
  readonly tools: readonly Tool[];
  readonly toolChoice?: ToolChoice;
  readonly parallelToolCalls?: boolean;
  readonly sampling: Sampling;
  /** Output limit that the caller asks for; absent = none (`catalog/output-limit.ts` says what becomes of it). */
  readonly requestedOutputTokens?: number;
  readonly reasoning?: ReasoningSettings;
  /** The budget for thoughts may exceed the output limit: it is for all thoughts between calls of tools together. */
  readonly mayThinkBeyondLimit?: boolean;
  readonly outputFormat?: OutputFormat;
  readonly verbosity?: string;
  readonly modalities?: readonly string[];
  readonly imageConfig?: JsonObject;
  /** Automatic caching: the mark goes on the last cacheable block. */
  readonly cache?: CacheMark | undefined;
  readonly promptCacheKey?: string;
  readonly promptCacheOptions?: JsonObject;
  readonly serviceTier?: string;
  readonly speed?: 'fast' | 'standard';
  /** The caller's own labels, echoed. */
  readonly metadata?: JsonObject;
  /** End-user id: leaves the gateway only as a keyed hash. */
  readonly user?: string;
  /** Second end-user id of the responses format: leaves the gateway only as a keyed hash. */
  readonly safetyIdentifier?: string;
  readonly truncation?: 'auto' | 'disabled';
  readonly include?: readonly string[] | undefined;
  /** Version of the messages format that the caller names; absent = none. */
  readonly apiVersion?: string;
  readonly stream: boolean;
  /** Send the rendered upstream body as the first event of the stream. */
  readonly echoUpstreamBody: boolean;
  readonly wishes: RoutingWishes;
  /** Known fields of one format that the gateway does not model; sent to that dialect only. */
  readonly ext: Ext;
  /** Where the items, parts and tools stood in the body, for reports. */
  readonly places: Places;
  /** Top-level keys of the body that no format documents: kept in the relay lane, else dropped and reported. */
  readonly unknownFields: readonly string[];
  /** Members below the top level and values that the format does not document; absent = no report is wanted. */
  readonly undocumented?: readonly UndocumentedMember[];
  /** Members that stages have read and that have no effect, for the report. */
  readonly ignoredMembers?: readonly TranslationEntry[];
  /** Further headers for upstreams; requests that have the same ones share the object. */
  readonly upstreamHeaders?: Readonly<Record<string, string>>;
  /** Set by guardrails; absent = nothing is watched. */
  readonly watch?: WireWatch;
}
