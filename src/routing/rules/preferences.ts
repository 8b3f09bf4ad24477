import type { Tier } from '../../catalog/service-tier.ts';
import type { PriceName } from '../../config/schema/price-names.ts';
import type { GenerationRequest } from '../../ir/request.ts';
import type { Json, JsonObject } from '../../kit/json/json.ts';
import { booleanAt, numberAt, objectAt, stringAt, stringsAt } from '../../kit/json/members.ts';
import { type Price, parsePrice } from '../../kit/money.ts';
import type { Percentile } from '../health/endpoint-health.ts';
import { type NameList, nameListOf } from './provider-names.ts';
import type { Variant } from './routed-model.ts';

export type SortKey = 'price' | 'throughput' | 'latency' | 'exacto';

/** `model`: all endpoints of one model before those of the next. `none`: the endpoints of all models in one list. */
export type Partition = 'model' | 'none';

/** Highest accepted price of one unit. */
export interface PriceLimit {
  readonly name: PriceName;
  readonly most: Price;
}

/** Preferred bound of a percentile. */
export interface Threshold {
  readonly percentile: Percentile;
  readonly value: number;
}

/** The routing preferences of a request, parsed once: later steps never read its JSON. */
export interface Preferences {
  /** Empty = no order. */
  readonly order: NameList;
  /** Undefined = all. */
  readonly only: NameList | undefined;
  readonly ignore: NameList;
  /** Full slugs; undefined = all. */
  readonly endpoints: NameList | undefined;
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
  /** Requested service tier; undefined = standard. */
  readonly tier: Tier | undefined;
  /** Tiers whose endpoints may also serve. */
  readonly admittedTiers: ReadonlySet<Tier>;
  /** Suffixes of a model id may add to `admittedTiers`. */
  readonly mayAdmitTiers: boolean;
}

const NO_TIERS: ReadonlySet<Tier> = new Set();

const READ = new WeakMap<GenerationRequest, Preferences>();

/** The preferences of a request without the suffixes of its models; parsed once. */
export function preferencesOf(request: GenerationRequest): Preferences {
  if (asksNothing(request)) return NO_PREFERENCES;
  const known = READ.get(request);
  if (known !== undefined) return known;
  const preferences = readPreferences(request);
  READ.set(request, preferences);
  return preferences;
}

/** Shortcut: most requests have no preferences. */
function asksNothing({ wishes, serviceTier, speed }: Wishing): boolean {
  return (
    wishes.route === undefined &&
    wishes.endpoints === undefined &&
    serviceTier === undefined &&
    speed === undefined &&
    isEmpty(wishes.provider)
  );
}

function isEmpty(object: JsonObject): boolean {
  for (const _ in object) return false;
  return true;
}

type Wishing = Pick<GenerationRequest, 'wishes' | 'serviceTier' | 'speed'>;

function readPreferences(request: Wishing): Preferences {
  const { provider, route, endpoints } = request.wishes;
  const only = stringsAt(provider, 'only');
  const quantizations = stringsAt(provider, 'quantizations');
  const order = nameListOf(stringsAt(provider, 'order') ?? []);
  return {
    order,
    only: only && nameListOf(only),
    ignore: nameListOf(stringsAt(provider, 'ignore') ?? []),
    endpoints: endpoints && nameListOf(endpoints),
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

/** The partition in `provider.sort`; `route` is the older form. */
export function statedPartition(provider: JsonObject): Partition | undefined {
  return stringAt(objectAt(provider, 'sort'), 'partition') as Partition | undefined;
}

/** Tiers by the words of `service_tier`. */
const REQUESTED_TIERS: ReadonlyMap<string, Tier> = new Map([
  ['flex', 'flex'],
  ['priority', 'priority'],
  ['fast', 'priority'],
  ['ultrafast', 'ultrafast'],
]);

/** Words of `service_tier` that allow only the standard tier. */
const STANDARD_TIERS: ReadonlySet<string> = new Set(['default', 'standard_only']);

/** The tier that `service_tier` asks for; if that is `auto`, the one that `speed` asks for. */
function requestedTier({ serviceTier = 'auto', speed }: Wishing): Tier | undefined {
  return (
    REQUESTED_TIERS.get(serviceTier) ?? (serviceTier === 'auto' && speed === 'fast' ? 'priority' : undefined)
  );
}

const VARIANTS: Readonly<Record<Variant, { readonly sort: SortKey; readonly tier?: Tier }>> = {
  nitro: { sort: 'throughput', tier: 'priority' },
  floor: { sort: 'price', tier: 'flex' },
  exacto: { sort: 'exacto' },
};

/** The preferences for one model, with those of its suffixes; the last suffix decides the sort. */
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

/** Prices that can be limited; limits of token prices are per million tokens. */
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

/** A decimal; digits beyond the precision of prices are dropped. */
const DECIMAL = /^(\d+(?:\.\d{1,18})?)\d*$/;

/** A limit in USD; undefined = none, or above every possible price. */
function parseLimit(limit: Json | undefined): Price | undefined {
  if (typeof limit !== 'number' && typeof limit !== 'string') return undefined;
  const match = DECIMAL.exec(typeof limit === 'number' ? limit.toFixed(12) : limit);
  return parsePrice(match?.[1] ?? '');
}

const PERCENTILES: readonly Percentile[] = ['p50', 'p75', 'p90', 'p99'];

/** A plain number is a bound of the median. */
function thresholdsOf(wish: Json | undefined): Threshold[] {
  const values = typeof wish === 'number' ? { p50: wish } : (wish as JsonObject | undefined);
  return PERCENTILES.flatMap((percentile) => {
    const value = numberAt(values, percentile);
    return value === undefined ? [] : [{ percentile, value }];
  });
}

const NO_PREFERENCES = readPreferences({ wishes: { provider: {}, plugins: [] } });
