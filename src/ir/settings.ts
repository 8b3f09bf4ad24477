import type { JsonObject } from '../kit/json/json.ts';

export type Effort = 'max' | 'xhigh' | 'high' | 'medium' | 'low' | 'minimal' | 'none';

/** How much the model may think, and what of it is returned. */
export interface ReasoningSettings {
  readonly effort?: Effort;
  /** A word for it that only upstreams of the request's format may know. */
  readonly otherEffort?: string;
  readonly budgetTokens?: number;
  readonly enabled?: boolean;
  /** The messages format's `adaptive`: the model decides how much. */
  readonly adaptive?: boolean;
  /** Think, but do not return it. */
  readonly exclude?: boolean;
  readonly summary?: string;
  /** The messages format's `display`. */
  readonly display?: string;
  readonly context?: string;
  readonly mode?: string;
}

/** Sampling settings; absent = the upstream's default. */
export interface Sampling {
  readonly temperature?: number;
  readonly topP?: number;
  readonly topK?: number;
  readonly topA?: number;
  readonly minP?: number;
  readonly frequencyPenalty?: number;
  readonly presencePenalty?: number;
  readonly repetitionPenalty?: number;
  readonly seed?: number;
  readonly stop?: readonly string[];
  readonly logitBias?: JsonObject;
  /** The chat format's switch; the responses format asks through `include`. */
  readonly logprobs?: boolean;
  readonly topLogprobs?: number;
}

/** Fields of a request that an upstream dialect may lack, by their name in the representation. */
export type RequestField =
  | keyof Sampling
  | 'requestedOutputTokens'
  | 'tools'
  | 'toolChoice'
  | 'parallelToolCalls'
  | 'reasoning'
  | 'outputFormat'
  | 'verbosity'
  | 'imageConfig'
  | 'promptCacheKey'
  | 'promptCacheOptions'
  | 'metadata'
  | 'modalities'
  | 'cache'
  | 'serviceTier'
  | 'speed'
  | 'truncation'
  | 'include'
  | 'items';
