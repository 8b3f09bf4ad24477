import type { PriceName } from '../config/schema/price-names.ts';
import type { DecisionForm } from '../ir/decision.ts';
import type { DialectName, Format } from '../ir/items.ts';
import type { Quirks } from '../ir/quirks.ts';
import type { Price } from '../kit/money.ts';
import type { Timeouts } from '../kit/net/timeouts.ts';
import type { EffortWord } from './entries.ts';
import type { Credential } from './providers/credential.ts';
import type { Auth, DataPolicy, ProviderFacts } from './providers/provider-members.ts';

/** A company or server that runs models. */
export interface Provider {
  readonly slug: string;
  readonly name: string;
  /** Wire dialect; the simulator answers in the caller's format unless `simulatedFormat` is set. */
  readonly dialect: DialectName | 'simulator';
  /** Simulator only: its fixed format. */
  readonly simulatedFormat?: Format;
  /** Address up to the dialect's own path, no trailing slash; absent = the credential contains it. */
  readonly baseUrl: string | undefined;
  readonly credential?: Credential;
  readonly headers: Readonly<Record<string, string>>;
  readonly auth: Auth;
  /** Absent = unknown, treated as training and retaining. */
  readonly dataPolicy: DataPolicy | undefined;
  readonly timeouts: Timeouts;
  readonly quirks: Quirks;
  readonly facts?: ProviderFacts;
  /** Called at its public address, so that the shipped data about its models apply. */
  readonly isPublic: boolean;
  /** Keys that a limit covers may have it run tools for which it has no price; absent = they may not. */
  readonly servesUnpriced?: boolean;
  /** The gateway has no credential for it: it serves only callers with their own; absent = false. */
  readonly isDormant?: boolean;
}

/** Prices of one endpoint, USD per unit, exact. */
export type Pricing = Readonly<Partial<Record<PriceName, Price>>>;

/** Prices for prompts of at least `minPromptTokens`; absent names keep the regular price. */
export interface PricingOverride {
  readonly minPromptTokens: number;
  readonly pricing: Pricing;
}

/** Prices of an endpoint from `fromMs` until the next list begins. */
export interface PriceList {
  /** Epoch milliseconds; minus infinity for the first. */
  readonly fromMs: number;
  readonly pricing: Pricing;
  /** Later ones win. */
  readonly overrides: readonly PricingOverride[];
}

export interface ReasoningFacts {
  /** It cannot be switched off. */
  readonly mandatory: boolean;
  /** On unless the request switches it off. */
  readonly defaultEnabled?: boolean;
  readonly defaultEffort?: EffortWord;
  /** Ascending; absent = unknown, treated as all. */
  readonly supportedEfforts?: readonly EffortWord[];
  /** Takes a token budget; absent = unknown. */
  readonly takesBudget?: boolean;
}

/** A model at a provider, with the provider's name for it and its prices. */
export interface Endpoint {
  readonly provider: Provider;
  /** Public slug of the model it serves. */
  readonly modelId: string;
  /** The upstream's own name. */
  readonly upstreamModel: string;
  /** Routing slug: `acme`, `acme/turbo`, `acme/flex`. */
  readonly tag: string;
  /** Unique key: model id, tag and upstream model. */
  readonly site: string;
  readonly quantization: string | undefined;
  readonly contextLength: number | undefined;
  readonly maxOutputTokens: number | undefined;
  /** Inputs of embeddings in one call; absent = as many as its dialect takes. */
  readonly maxInputs?: number;
  /** Messages of one prompt; absent = any number. */
  readonly maxMessages?: number;
  /** The form in which the upstream answers decisions itself; absent = it is asked for them in a conversation. */
  readonly decisions?: DecisionForm;
  /** Absent = those of the model. */
  readonly inputModalities?: readonly string[];
  /** Absent = all. */
  readonly supportedParameters: ReadonlySet<string> | undefined;
  /** At the time for which the catalogue was built. */
  readonly pricing: Pricing;
  /** Prices of long prompts, at the same time; absent = none. */
  readonly overrides?: readonly PricingOverride[];
  /** All price lists, oldest first; absent = `pricing` always holds. */
  readonly priceLists?: readonly PriceList[];
  /** Absent = unknown. */
  readonly reasoning?: ReasoningFacts;
  /** Takes precedence over that of the provider. */
  readonly servesUnpriced?: boolean;
  /** The provider caches prompts without cache marks; absent = unknown. */
  readonly cachesImplicitly?: boolean;
}

export interface Model {
  readonly id: string;
  /** Id of the exact version, with its date; absent = the id itself. */
  readonly canonicalSlug?: string;
  readonly name: string;
  readonly description: string;
  /** Repository of the weights. */
  readonly huggingFaceId?: string;
  /** Epoch seconds. */
  readonly created: number;
  /** A day or a month; absent = not known. */
  readonly knowledgeCutoff?: string;
  readonly contextLength: number | undefined;
  readonly maxOutputTokens: number | undefined;
  readonly inputModalities: readonly string[];
  readonly outputModalities: readonly string[];
  readonly aliases: readonly string[];
  readonly quality: { readonly general?: number; readonly coding?: number };
  /** Absent = not known. */
  readonly reasoning?: ReasoningFacts;
  readonly distillable: boolean;
  readonly endpoints: readonly Endpoint[];
}

/** All models and providers that requests can be routed to. Immutable; a reload builds a new one. */
export interface Catalog {
  /** Sorted by id. */
  readonly models: readonly Model[];
  readonly providers: readonly Provider[];
  /** When the next dated price begins and a new catalogue is due, epoch milliseconds; absent = never. */
  readonly dueAtMs?: number;
  /** By id or alias; undefined if unknown. */
  resolve(id: string): Model | undefined;
  /** The catalogue with the known providers that have no credential here; built on first use. */
  withEveryProvider(): Catalog;
  /**
   * The catalogue of a workspace, without the providers that do not serve its requests. Absent = every provider serves
   * all workspaces.
   */
  seenFrom?(workspaceId: string): Catalog;
}
