import type { PriceName } from '../config/schema/price-names.ts';
import type { DialectName, Format } from '../ir/items.ts';
import type { Quirks } from '../ir/quirks.ts';
import type { Price } from '../kit/money.ts';
import type { EffortWord } from './entries.ts';
import type { Credential } from './providers/credential.ts';
import type { Auth, DataPolicy, ProviderFacts, Timeouts } from './providers/provider.ts';

/** A company or server that runs models. */
export interface Provider {
  readonly slug: string;
  /** Display name. */
  readonly name: string;
  /** Wire dialect; the simulator speaks the caller's own format unless it is told one. */
  readonly dialect: DialectName | 'simulator';
  /** Of the simulator: the one format it answers in. */
  readonly simulatedFormat?: Format;
  /** Everything before the dialect's own path, without a trailing slash; absent = the credential says it. */
  readonly baseUrl: string | undefined;
  readonly credential?: Credential;
  readonly headers: Readonly<Record<string, string>>;
  readonly auth: Auth;
  /** Absent = not known, and taken for the worst. */
  readonly dataPolicy: DataPolicy | undefined;
  readonly timeouts: Timeouts;
  readonly quirks: Quirks;
  readonly facts?: ProviderFacts;
  /** It is reached at the address that everybody knows: what ships about its models is true of it. */
  readonly isPublic: boolean;
  /** False = the gateway has no credential for it, so it serves only callers who bring one; absent = true. */
  readonly isServed?: boolean;
}

/** Prices of one endpoint, USD per unit, exact. */
export type Pricing = Readonly<Partial<Record<PriceName, Price>>>;

/** Prices that hold instead of the usual ones once a prompt is this long; names that are absent keep the usual price. */
export interface PricingOverride {
  readonly minPromptTokens: number;
  readonly pricing: Pricing;
}

/** What an endpoint costs from a moment on, until the next list begins. */
export interface PriceList {
  /** Epoch milliseconds; minus infinity for the first. */
  readonly fromMs: number;
  readonly pricing: Pricing;
  /** Of those that apply, later ones win. */
  readonly overrides: readonly PricingOverride[];
}

/** How a model thinks. */
export interface ReasoningFacts {
  /** It cannot be switched off. */
  readonly mandatory: boolean;
  /** It thinks unless told otherwise. */
  readonly defaultEnabled?: boolean;
  readonly defaultEffort?: EffortWord;
  /** From the least to the most; absent = not known, and taken for all. */
  readonly supportedEfforts?: readonly EffortWord[];
  /** Whether it takes a budget in tokens; absent = not known. */
  readonly supportsMaxTokens?: boolean;
}

/** One way to reach one model: a provider, its own name for the model, a price. */
export interface Endpoint {
  readonly provider: Provider;
  /** Public slug of the model it serves. */
  readonly modelId: string;
  /** The upstream's own name. */
  readonly upstreamModel: string;
  /** Routing slug: `acme`, `acme/turbo`, `acme/flex`. */
  readonly tag: string;
  /** What it is known by among all endpoints: its model, tag and upstream's name. */
  readonly site: string;
  readonly quantization: string | undefined;
  readonly contextLength: number | undefined;
  readonly maxOutputTokens: number | undefined;
  /** Absent = what the model takes. */
  readonly inputModalities?: readonly string[];
  /** Absent = takes every parameter. */
  readonly supportedParameters: ReadonlySet<string> | undefined;
  /** As of the moment for which the catalogue was made. */
  readonly pricing: Pricing;
  /** Prices of long prompts, as of the same moment; absent = there are none. */
  readonly overrides?: readonly PricingOverride[];
  /** All that is known, oldest first; absent = `pricing` at any time and for prompts of any length. */
  readonly priceLists?: readonly PriceList[];
  /** How the model thinks; absent = not known. */
  readonly reasoning?: ReasoningFacts;
  /** The provider caches prompts without being asked; absent = not known to. */
  readonly cachesImplicitly?: boolean;
}

export interface Model {
  readonly id: string;
  /** The id of the very version, with its date; absent = the id itself. */
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

/** What can be routed to, at one moment. Immutable; a reload makes a new one. */
export interface Catalog {
  /** Sorted by id. */
  readonly models: readonly Model[];
  readonly providers: readonly Provider[];
  /** When the next dated price begins and a new catalogue is due, epoch milliseconds; absent = never. */
  readonly dueAtMs?: number;
  /** By id or alias; undefined for what nobody knows. */
  resolve(id: string): Model | undefined;
  /** The same with the providers that the gateway knows but has no credential for; made on first use. */
  withEveryProvider(): Catalog;
}
