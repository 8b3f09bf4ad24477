import type { JsonObject } from '../kit/json/json.ts';

/** The wire dialects of conversations. The first three are also the formats that the gateway is spoken to in. */
export type DialectName = Format | 'gemini' | 'bedrock';

/** The three inbound formats of conversations. */
export type Format = 'responses' | 'messages' | 'chat';

export type RequestFormat = Format | 'embeddings' | 'decisions' | 'compaction';

/** The wire dialects of embeddings. The first is also an inbound format. */
export type EmbeddingDialectName =
  | 'embeddings'
  | 'gemini-embeddings'
  | 'bedrock-embeddings'
  | 'cohere-embeddings';

/**
 * Fields that only one dialect has, kept with the thing they belong to and written back only to that dialect.
 * First of the three escapes that keep the representation lossless.
 */
export type Ext = { readonly [dialect in DialectName]?: JsonObject };

/** A mark that asks the upstream to cache the prompt up to here. */
export interface CacheMark {
  /** `5m`, `1h`, or a word of the upstream that we do not know. */
  readonly ttl?: string;
}

/** Where the bytes of an image or a file are. */
export type Source =
  | { readonly kind: 'url'; readonly url: string }
  | { readonly kind: 'base64'; readonly mediaType: string; readonly data: string }
  | { readonly kind: 'text'; readonly mediaType: string; readonly text: string }
  | { readonly kind: 'file-id'; readonly fileId: string };

/** A place the model names as its source. */
export type Annotation =
  | {
      readonly type: 'url-citation';
      readonly url: string;
      readonly title?: string;
      readonly startIndex?: number;
      readonly endIndex?: number;
      readonly content?: string;
      readonly ext?: Ext;
    }
  | { readonly type: 'opaque'; readonly dialect: DialectName; readonly value: JsonObject };

/** Log probabilities as the responses and chat formats write them, one entry per token. */
export type Logprobs = readonly JsonObject[];

/** A piece of a message or of a tool result. */
export type Part =
  | {
      readonly type: 'text';
      readonly text: string;
      readonly annotations?: readonly Annotation[];
      readonly logprobs?: Logprobs;
      readonly cache?: CacheMark;
      readonly ext?: Ext;
    }
  | { readonly type: 'refusal'; readonly refusal: string; readonly ext?: Ext }
  | {
      readonly type: 'image';
      readonly source: Source;
      readonly detail?: string;
      readonly cache?: CacheMark;
      readonly ext?: Ext;
    }
  | {
      readonly type: 'file';
      readonly source: Source;
      readonly filename?: string;
      readonly cache?: CacheMark;
      readonly ext?: Ext;
    }
  | { readonly type: 'audio'; readonly data: string; readonly format: string; readonly ext?: Ext }
  | { readonly type: 'video'; readonly url: string; readonly ext?: Ext }
  /** An unmodelled part: goes back to its own dialect unchanged. */
  | { readonly type: 'opaque'; readonly dialect: DialectName; readonly value: JsonObject };

export type Role = 'user' | 'assistant' | 'system' | 'developer';

export type ItemStatus = 'in_progress' | 'completed' | 'incomplete';

export interface MessageItem {
  readonly type: 'message';
  readonly role: Role;
  readonly content: readonly Part[];
  /** The id the item had in its dialect; also the id it keeps on the way out. */
  readonly id?: string;
  readonly status?: ItemStatus;
  readonly phase?: string;
  readonly ext?: Ext;
}

/**
 * Who minted the sealed part of a reasoning item; a signature goes back byte for byte, and only to its own family.
 * Free text: `openai-responses-v1`, `anthropic-claude-v1`, `google-gemini-v1`, ...
 */
export type ReasoningFormat = string;

/**
 * The dialect of the upstream that gave a seal, where the format does not tell: chat upstreams pass on what any family
 * sealed, and it goes back to them whatever its format names.
 */
export type SealGiver = 'chat';

export interface ReasoningItem {
  readonly type: 'reasoning';
  readonly id?: string;
  /** Raw thoughts, one entry per part. */
  readonly text: readonly string[];
  /** Summaries of thoughts, one entry per part. */
  readonly summary: readonly string[];
  /** Proof over visible text. */
  readonly signature?: string;
  /** Sealed thoughts. Without text and with an anthropic format: a redacted block. */
  readonly encrypted?: string;
  readonly format?: ReasoningFormat;
  readonly givenBy?: SealGiver;
  readonly status?: ItemStatus;
  readonly ext?: Ext;
}

/** `function` takes JSON arguments, `custom` free text. */
export type ToolKind = 'function' | 'custom';

export interface ToolCallItem {
  readonly type: 'tool-call';
  readonly kind: ToolKind;
  /** Pairs the call with its result. */
  readonly callId: string;
  readonly name: string;
  /** The group that a tool was declared in, for `namespace` tools. */
  readonly namespace?: string;
  /** JSON text for functions (as the model wrote it, not re-serialised), plain text for custom tools. */
  readonly input: string;
  readonly id?: string;
  readonly status?: ItemStatus;
  /** Seal that one family puts on calls (Gemini thought signatures). */
  readonly signature?: string;
  /** Who minted the seal, where it is known. */
  readonly signatureFormat?: ReasoningFormat;
  readonly signatureGivenBy?: SealGiver;
  readonly cache?: CacheMark;
  readonly ext?: Ext;
}

export interface ToolResultItem {
  readonly type: 'tool-result';
  readonly kind: ToolKind;
  readonly callId: string;
  readonly content: readonly Part[];
  readonly isError?: boolean;
  readonly id?: string;
  readonly status?: ItemStatus;
  readonly cache?: CacheMark;
  readonly ext?: Ext;
}

export interface ImageItem {
  readonly type: 'image';
  readonly source: Source;
  readonly id?: string;
  readonly status?: ItemStatus;
  readonly ext?: Ext;
}

/** An item or block that we do not model: goes back to its own dialect as it came. Second escape. */
export interface OpaqueItem {
  readonly type: 'opaque';
  readonly dialect: DialectName;
  readonly value: JsonObject;
  /** For a block that sat inside a message: the role of that message. */
  readonly role?: Role;
}

export type ServerCallStatus = 'in_progress' | 'completed' | 'failed';

/**
 * A call of a server tool with its result, as callers see it. Models see a tool call and its result, so that every
 * dialect can render them.
 */
export interface ServerCallItem {
  readonly type: 'server-call';
  /** Short name of the tool, such as `web_search`. */
  readonly tool: string;
  /** The hosted type by which the caller asked for the tool, such as `web_search_2025_08_26`; absent = its own type. */
  readonly hostedAs?: string;
  readonly callId: string;
  /** Arguments as the model wrote them: JSON text. */
  readonly input: string;
  /** What the model was told; absent while the tool runs. */
  readonly output?: string;
  /** Members of the item that callers get. */
  readonly shown: JsonObject;
  readonly status: ServerCallStatus;
  readonly id?: string;
}

/** One step of an answer: what a model wrote, or a call of a server tool. */
export type OutputItem = Item | ServerCallItem;

export type Item = MessageItem | ReasoningItem | ToolCallItem | ToolResultItem | ImageItem | OpaqueItem;
