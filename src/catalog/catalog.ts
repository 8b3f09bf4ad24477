import type { PriceName } from '../config/price-names.ts';
import type { DialectName, Format } from '../ir/items.ts';
import type { Price } from '../kit/money.ts';
import type { Timeouts } from './provider.ts';

/** A company or server that runs models. */
export interface Provider {
  readonly slug: string;
  /** Display name. */
  readonly name: string;
  /** Wire dialect; the simulator speaks the caller's own format unless it is told one. */
  readonly dialect: DialectName | 'simulator';
  /** Of the simulator: the one format it answers in. */
  readonly simulatedFormat?: Format;
  /** Everything before the dialect's own path, without a trailing slash. */
  readonly baseUrl: string;
  readonly apiKey?: string;
  readonly headers: Readonly<Record<string, string>>;
  /** How the credential is sent. */
  readonly auth: 'bearer' | 'x-api-key' | 'none';
  readonly dataPolicy: { readonly training: boolean; readonly retainsPrompts: boolean } | undefined;
  readonly timeouts: Timeouts;
}

/** Prices of one endpoint, USD per unit, exact. */
export type Pricing = Readonly<Partial<Record<PriceName, Price>>>;

/** One way to reach one model: a provider, its own name for the model, a price. */
export interface Endpoint {
  readonly provider: Provider;
  /** Public slug of the model it serves. */
  readonly modelId: string;
  /** The upstream's own name. */
  readonly upstreamModel: string;
  /** Routing slug: `acme`, `acme/turbo`, `acme/flex`. */
  readonly tag: string;
  readonly quantization: string | undefined;
  readonly contextLength: number | undefined;
  readonly maxOutputTokens: number | undefined;
  /** Absent = takes every parameter. */
  readonly supportedParameters: ReadonlySet<string> | undefined;
  readonly pricing: Pricing;
}

export interface Model {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  /** Epoch seconds. */
  readonly created: number;
  readonly contextLength: number | undefined;
  readonly maxOutputTokens: number | undefined;
  readonly inputModalities: readonly string[];
  readonly outputModalities: readonly string[];
  readonly aliases: readonly string[];
  readonly quality: { readonly general?: number; readonly coding?: number };
  readonly distillable: boolean;
  readonly endpoints: readonly Endpoint[];
}

/** What can be routed to, at one moment. Immutable; a reload makes a new one. */
export interface Catalog {
  /** Sorted by id. */
  readonly models: readonly Model[];
  readonly providers: readonly Provider[];
  /** By id or alias; undefined for what nobody knows. */
  resolve(id: string): Model | undefined;
}
