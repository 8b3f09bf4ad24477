import type { Tier } from '../../catalog/endpoint-tier.ts';
import type { PriceName } from '../../config/schema/price-names.ts';
import type { GenerationRequest } from '../../ir/request.ts';
import type { Json, JsonObject } from '../../kit/json/json.ts';
import { booleanAt, numberAt, objectAt, stringAt, stringsAt } from '../../kit/json/members.ts';
import { type Price, parsePrice } from '../../kit/money.ts';
import type { Percentile } from '../health/endpoint-health.ts';
import { type NameList, nameListOf } from './provider-names.ts';
import type { Variant } from './routed-model.ts';

/** What endpoints may be sorted by. */
export type SortKey = 'price' | 'throughput' | 'latency' | 'exacto';

/** `model`: all endpoints of one model before those of the next. `none`: the endpoints of all models in one list. */
export type Partition = 'model' | 'none';

/** The most that a unit may cost. */
export interface PriceLimit {
  readonly name: PriceName;
  readonly most: Price;
}

/** A value that a percentile should keep. */
export interface Threshold {
  readonly percentile: Percentile;
  readonly value: number;
}

/** What a request asks of routing, read once: later steps never look at its JSON. */
export interface Preferences {
  /** Empty = no order. */
  readonly order: NameList;
  /** Undefined = all. */
  readonly only: NameList | undefined;
  readonly ignore: NameList;
  readonly allowsFallbacks: boolean;
  readonly requiresParameters: boolean;
  readonly deniesDataCollection: boolean;
  readonly requiresZeroRetention: boolean;
  readonly requiresDistillable: boolean;
  /** Undefined = any. */
  readonly quantizations: ReadonlySet<string> | undefined;
  /** Undefined = a draw by price. */
  readonly sort: SortKey | undefined;
  readonly partition: Partition;
  readonly priceLimits: readonly PriceLimit[];
  /** Tokens per second, at least. */
  readonly minThroughput: readonly Threshold[];
  /** Milliseconds, at most. */
  readonly maxLatency: readonly Threshold[];
  /** The service tier that is asked for; undefined = the standard one. */
  readonly tier: Tier | undefined;
  /** Tiers whose endpoints may serve although they were not asked for. */
  readonly admittedTiers: ReadonlySet<Tier>;
  /** Variants of a model may admit tiers. */
  readonly mayAdmitTiers: boolean;
}

const NO_TIERS: ReadonlySet<Tier> = new Set();

const READ = new WeakMap<GenerationRequest, Preferences>();

/** What a request asks of routing, apart from the variants of its models; read once. */
export function preferencesOf(request: GenerationRequest): Preferences {
  if (asksNothing(request)) return NO_PREFERENCES;
  const known = READ.get(request);
  if (known !== undefined) return known;
  const preferences = readPreferences(request);
  READ.set(request, preferences);
  return preferences;
}

/** Most requests leave everything to the gateway. */
function asksNothing({ wishes, serviceTier, speed }: Wishing): boolean {
  return (
    wishes.route === undefined && serviceTier === undefined && speed === undefined && isEmpty(wishes.provider)
  );
}

function isEmpty(object: JsonObject): boolean {
  for (const _ in object) return false;
  return true;
}

/** What preferences are read from. */
type Wishing = Pick<GenerationRequest, 'wishes' | 'serviceTier' | 'speed'>;

function readPreferences(request: Wishing): Preferences {
  const { provider, route } = request.wishes;
  const only = stringsAt(provider, 'only');
  const quantizations = stringsAt(provider, 'quantizations');
  const order = nameListOf(stringsAt(provider, 'order') ?? []);
  return {
    order,
    only: only && nameListOf(only),
    ignore: nameListOf(stringsAt(provider, 'ignore') ?? []),
    allowsFallbacks: booleanAt(provider, 'allow_fallbacks') !== false,
    requiresParameters: booleanAt(provider, 'require_parameters') === true,
    deniesDataCollection: stringAt(provider, 'data_collection') === 'deny',
    requiresZeroRetention: booleanAt(provider, 'zdr') === true,
    requiresDistillable: booleanAt(provider, 'enforce_distillable_text') === true,
    quantizations: quantizations && new Set(quantizations),
    sort: (stringAt(provider, 'sort') ?? stringAt(objectAt(provider, 'sort'), 'by')) as SortKey | undefined,
    partition: statedPartition(provider) ?? (route === 'sort' ? 'none' : 'model'),
    priceLimits: priceLimitsOf(objectAt(provider, 'max_price')),
    minThroughput: thresholdsOf(provider.preferred_min_throughput),
    maxLatency: thresholdsOf(provider.preferred_max_latency).map(({ percentile, value }) => ({
      percentile,
      value: value * 1000,
    })),
    tier: requestedTier(request),
    admittedTiers: NO_TIERS,
    mayAdmitTiers: order.size === 0 && !STANDARD_TIERS.has(request.serviceTier ?? ''),
  };
}

/** The partition that `provider.sort` names, of which `route` is an older way to say it. */
export function statedPartition(provider: JsonObject): Partition | undefined {
  return stringAt(objectAt(provider, 'sort'), 'partition') as Partition | undefined;
}

/** Words of `service_tier` that ask for endpoints of a tier. */
const REQUESTED_TIERS: ReadonlyMap<string, Tier> = new Map([
  ['flex', 'flex'],
  ['priority', 'priority'],
  ['fast', 'priority'],
]);

/** Words of `service_tier` that ask for the standard tier and nothing else. */
const STANDARD_TIERS: ReadonlySet<string> = new Set(['default', 'standard_only']);

/** The service tier decides; speed has a say where it does not. */
function requestedTier({ serviceTier = 'auto', speed }: Wishing): Tier | undefined {
  return (
    REQUESTED_TIERS.get(serviceTier) ?? (serviceTier === 'auto' && speed === 'fast' ? 'priority' : undefined)
  );
}

/** What the suffixes of a model ask for. */
const VARIANTS: Readonly<Record<Variant, { readonly sort: SortKey; readonly tier?: Tier }>> = {
  nitro: { sort: 'throughput', tier: 'priority' },
  floor: { sort: 'price', tier: 'flex' },
  exacto: { sort: 'exacto' },
};

/** The preferences for one model of the request, by its suffixes. Of several that sort, the last counts. */
export function withVariants(preferences: Preferences, variants: readonly Variant[]): Preferences {
  const last = variants.at(-1);
  if (last === undefined) return preferences;
  const tiers = variants.flatMap((variant) => VARIANTS[variant].tier ?? []);
  return {
    ...preferences,
    sort: preferences.sort ?? VARIANTS[last].sort,
    admittedTiers: preferences.mayAdmitTiers ? new Set(tiers) : NO_TIERS,
  };
}

/** Limits are in USD per million tokens for tokens, per unit for the rest. */
const LIMITED_PRICES: readonly (readonly [name: PriceName, units: bigint])[] = [
  ['prompt', 1_000_000n],
  ['completion', 1_000_000n],
  ['request', 1n],
  ['image', 1n],
  ['audio', 1n],
];

function priceLimitsOf(limits: JsonObject | undefined): PriceLimit[] {
  if (limits === undefined) return [];
  return LIMITED_PRICES.flatMap(([name, units]) => {
    const most = parseLimit(limits[name]);
    return most === undefined ? [] : [{ name, most: most / units }];
  });
}

/** A decimal, cut off where prices end. */
const DECIMAL = /^(\d+(?:\.\d{1,18})?)\d*$/;

/** A limit in USD; undefined = none, which is also what one beyond every price comes to. */
function parseLimit(limit: Json | undefined): Price | undefined {
  if (typeof limit !== 'number' && typeof limit !== 'string') return undefined;
  const match = DECIMAL.exec(typeof limit === 'number' ? limit.toFixed(12) : limit);
  return parsePrice(match?.[1] ?? '');
}

const PERCENTILES: readonly Percentile[] = ['p50', 'p75', 'p90', 'p99'];

/** A plain number is about the median. */
function thresholdsOf(wish: Json | undefined): Threshold[] {
  const values = typeof wish === 'number' ? { p50: wish } : (wish as JsonObject | undefined);
  return PERCENTILES.flatMap((percentile) => {
    const value = numberAt(values, percentile);
    return value === undefined ? [] : [{ percentile, value }];
  });
}

/** Those of a request that asks for nothing. */
const NO_PREFERENCES = readPreferences({ wishes: { provider: {}, plugins: [] } });
