import type { ErrorType } from '../../ir/errors.ts';
import type { RequestFormat } from '../../ir/items.ts';
import type { ChargeKind, LegKind, LegStatus, ToolCallEnd } from '../../ir/leg.ts';
import type { UsageSource } from '../../ir/usage.ts';
import type { JsonObject } from '../../kit/json/json.ts';

/** One upstream call of a generation. */
export type ProviderResponse = {
  provider_name: string;
  /** Slug of the endpoint. */
  endpoint_id: string;
  /** The upstream's id of its answer, present only on the call that served: clients do not accept null here. */
  id?: string;
  model_permaslug: string;
  /** Status of the upstream's answer; without one, the status that the caller got for it. */
  status: number;
  /** Present if the upstream gave no answer. */
  unanswered?: true;
  /** The beginning of what the provider said of its failure. */
  provider_message?: string;
  /** Milliseconds to the first content, or to the failure. */
  latency: number;
  is_byok: boolean;
  routed_service_tier?: string;
  /** Milliseconds from the start of the first call; absent = 0. */
  started_ms?: number;
  /** Number of its leg, from 1; absent = 1. */
  leg?: number;
  /** The span that its upstream was told, 16 hexadecimal digits; absent = it was told none. */
  span_id?: string;
  /** Its failure began a cool-down of the endpoint, so long in milliseconds. */
  cooldown_ms?: number;
};

/** One leg of a generation: a call of a model. */
export type LegRow = {
  kind: LegKind;
  /** Number of the call of a server tool that it was for, from 1; absent = none. */
  tool_call?: number;
  model: string;
  provider_name: string | null;
  /** Absent in rows of earlier releases. */
  started_at?: string;
  /** Absent if it was open when the process ended. */
  duration_ms?: number;
  tokens_prompt: number;
  tokens_completion: number;
  /** Charge, nano-dollars in decimal. */
  cost_nanos: string;
  status: LegStatus;
};

/** A call of a server tool. */
export type ToolCallRow = {
  name: string;
  /** Number of the leg that asked for it, from 1. */
  leg: number;
  started_at: string;
  duration_ms: number;
  outcome: ToolCallEnd;
  /** Nano-dollars in decimal. */
  cost_nanos: string;
  input_characters: number;
  output_characters: number;
  error?: string;
  /** The span that its service was told, 16 hexadecimal digits; absent = it was told none. */
  span_id?: string;
};

/** Something besides a model call that a generation has paid for. */
export type ChargeRow = {
  kind: ChargeKind;
  /** Nano-dollars in decimal. */
  nanos: string;
};

/**
 * Stored facts of a generation besides its id, scopes and charge, under the names of the API. Bounded in size
 * whatever the caller sent, because it is journalled with the money.
 */
export type GenerationRow = {
  /** `classification`: what a classifier has asked its model. */
  api_type: 'completions' | 'embeddings' | 'decisions' | 'classification';
  /** Format of the request; null in rows that were begun by an earlier release. */
  format: RequestFormat | null;
  /** What the caller got for a failure; absent = none, or unknown. */
  error?: { status: number; type: ErrorType; message?: string };
  /** Refused requests, before any upstream, that the row stands for: itself and those like it. Absent = it is none. */
  refused_requests?: number;
  /** Id of the model that served; as the caller wrote it when none was reached. */
  model: string;
  model_permaslug: string;
  /** The routing suffix of the model as the caller wrote it; `standard` without one. */
  variant: string;
  provider_name: string | null;
  /** When the request came in, ISO 8601 in UTC. */
  created_at: string;
  app_id: number | null;
  app_title: string | null;
  app_categories: string[];
  /** Origin of `http_referer`. */
  origin: string | null;
  http_referer: string | null;
  user_agent: string | null;
  /** The end user, as the caller named them. */
  external_user: string | null;
  /** Who made the key. */
  creator_user_id: string | null;
  session_id: string | null;
  request_id: string;
  preset_id: string | null;
  /** The request's own `trace`, as it came. */
  trace: JsonObject | null;
  /** W3C `traceparent` of the request; absent = none that is valid. */
  traceparent?: string;
  /** W3C `tracestate` of the request, of bounded length; absent = none that is valid. */
  tracestate?: string;
  /** The router that chose the model, as the caller wrote it. */
  router: string | null;
  streamed: boolean;
  cancelled: boolean;
  /** `error` after a failure or a crash; null when the caller left before the end. */
  finish_reason: string | null;
  native_finish_reason: string | null;
  /** Milliseconds from the request to the first content. */
  latency: number | null;
  /** Milliseconds from the call that served to its end. */
  generation_time: number | null;
  moderation_latency: number | null;
  tokens_prompt: number;
  tokens_completion: number;
  native_tokens_prompt: number;
  native_tokens_completion: number;
  native_tokens_reasoning: number;
  native_tokens_cached: number;
  native_tokens_completion_images: number;
  num_media_prompt: number;
  num_media_completion: number;
  num_input_audio_prompt: number;
  /** Sources that the answer cites; null when it cites none. */
  num_search_results: number | null;
  num_fetches: number | null;
  web_search_engine: string | null;
  is_byok: boolean;
  /** The request asked for endpoints that retain nothing. */
  is_zdr: boolean;
  service_tier: string | null;
  data_region: 'global';
  upstream_id: string | null;
  response_cache_source_id: string | null;
  provider_responses: ProviderResponse[] | null;
  /** Absent = one, which the row itself describes. */
  legs?: LegRow[];
  /** Absent = none. */
  charges?: ChargeRow[];
  /** Absent = none. */
  tool_calls?: ToolCallRow[];
  usage_source: UsageSource;
  /** List price of what was used, nano-dollars in decimal. */
  upstream_inference_nanos: string;
  /** Savings of caching on the list price, nano-dollars in decimal; negative where writing the cache cost more. */
  cache_discount_nanos: string;
  /** Part of the list price that was for searches, nano-dollars in decimal. */
  web_search_nanos: string;
  /** What upstreams did with tools that they run, by price; absent = nothing. */
  hosted_tools?: JsonObject;
  /** What of that, and of unknown tools, the endpoint had no price for; absent = nothing. */
  unpriced?: JsonObject;
  /** Held for it in the end, nano-dollars in decimal; null = nothing was, or it is unknown. Absent in old rows. */
  reserved_nanos?: string | null;
  /** Routing metadata; long lists are cut. */
  routing: JsonObject | null;
};
