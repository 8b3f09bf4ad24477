import type { EFFORT_WORDS } from '../config/schema/catalog-members.ts';
import type { DIALECT_WORDS } from '../config/schema/provider-members.ts';
import type { DecisionForm } from '../ir/decision.ts';

/** Providers and models in the notation of the configuration file and of the shipped data. */

/** Dialects as configurations name them: the vendor whose interface it is, and the dialect. */
export type DialectWord = (typeof DIALECT_WORDS)[number];

export type EffortWord = (typeof EFFORT_WORDS)[number];

export interface ProviderEntry {
  readonly slug: string;
  readonly name?: string | null;
  readonly dialect?: DialectWord | null;
  readonly base_url?: string | null;
  readonly api_key?: string | null;
  readonly headers?: Readonly<Record<string, string>> | null;
  /** Whether keys that a limit covers may have tools run for which there is no price. */
  readonly unpriced?: 'allow' | 'refuse' | null;
  readonly data_policy?: { readonly training: boolean; readonly retains_prompts: boolean } | null;
  /** What it takes of the messages dialect that not every server of it knows. */
  readonly takes?: {
    readonly system_turns?: boolean | null;
    readonly callers_version?: boolean | null;
  } | null;
  /** Ids of the workspaces whose requests it serves; absent = all. The configuration file has no such key. */
  readonly workspaces?: readonly string[] | undefined;
  readonly timeouts_ms?: {
    readonly connect?: number | null;
    readonly first_byte?: number | null;
    readonly idle?: number | null;
    readonly total?: number | null;
  } | null;
}

/** Prices by name, exact decimals; `overrides` are those of long prompts. */
export type PricingEntry = Readonly<Record<string, unknown>>;

/** Prices from a day or time on. */
export interface DatedPricingEntry {
  readonly from: string;
  readonly pricing: PricingEntry;
  /** `as_of` of the data that reported it, if it could not begin on that day. Catalogue data only. */
  readonly told?: string;
}

export interface EndpointEntry {
  readonly provider: string;
  readonly model?: string | null;
  readonly tag?: string | null;
  readonly quantization?: string | null;
  readonly context_length?: number | null;
  readonly max_output_tokens?: number | null;
  readonly max_inputs?: number | null;
  readonly max_messages?: number | null;
  readonly decisions?: DecisionForm | null;
  /** If it takes fewer than the model. */
  readonly input_modalities?: readonly string[] | null;
  readonly supported_parameters?: readonly string[] | null;
  /** Until the first of `prices` begins. */
  readonly pricing?: PricingEntry | null;
  /** Oldest first. */
  readonly prices?: readonly DatedPricingEntry[] | null;
  readonly implicit_caching?: boolean | null;
  /** Takes precedence over `unpriced` of the provider. */
  readonly unpriced?: 'allow' | 'refuse' | null;
}

export interface ReasoningEntry {
  readonly mandatory: boolean;
  readonly default_enabled?: boolean | null;
  readonly default_effort?: EffortWord | null;
  readonly supported_efforts?: readonly EffortWord[] | null;
  /** It takes a token budget. */
  readonly supports_max_tokens?: boolean | null;
}

export interface ModelEntry {
  readonly id: string;
  readonly canonical_slug?: string | null;
  readonly name?: string | null;
  readonly description?: string | null;
  /** The day of its release. */
  readonly created?: string | null;
  /** Day of the entry. Catalogue data only. */
  readonly as_of?: string;
  /** Last day or month of the training data. */
  readonly knowledge_cutoff?: string | null;
  readonly hugging_face_id?: string | null;
  /** Slug of the provider that the author runs: its endpoints are listed first. */
  readonly home?: string | null;
  readonly context_length?: number | null;
  readonly max_output_tokens?: number | null;
  readonly input_modalities?: readonly string[] | null;
  readonly output_modalities?: readonly string[] | null;
  readonly aliases?: readonly string[] | null;
  readonly quality?: { readonly general?: number | null; readonly coding?: number | null } | null;
  readonly reasoning?: ReasoningEntry | null;
  readonly distillable?: boolean | null;
  readonly endpoints?: readonly EndpointEntry[] | null;
}
