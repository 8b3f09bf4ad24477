import type { Endpoint } from '../../catalog/catalog.ts';
import { tierOf } from '../../catalog/service-tier.ts';
import {
  type EndpointHealth,
  type HealthView,
  isHealthy,
  type Percentiles,
} from '../health/endpoint-health.ts';
import { type Candidate, siteOf } from '../rules/candidate.ts';
import type { Preferences, SortKey, Threshold } from '../rules/preferences.ts';
import { placeIn } from '../rules/provider-names.ts';
import { tokenPriceOf } from './token-price.ts';

/** Input of the ranking besides candidates and preferences. */
export interface RankContext {
  readonly health: HealthView;
  /** The pinned site of the conversation. */
  readonly pin: string | undefined;
  /** The test for custody (`custodyOf`); undefined = nothing is sealed. */
  readonly takesSealsBack: ((endpoint: Endpoint) => boolean) | undefined;
  readonly usesTools: boolean;
}

/** Reasons to call a candidate later than its rank, mildest first. */
export const DEFERRAL = {
  none: 0,
  /** It failed with a retry-after: other candidates go first. */
  deferred: 1,
  /** It is rate-limited. */
  paused: 2,
  cooling: 3,
} as const;

export type Deferral = (typeof DEFERRAL)[keyof typeof DEFERRAL];

/** The sort key of a candidate: members are compared in this order, smaller first (`compareRankKeys`). */
export interface RankKey {
  readonly candidate: Candidate;
  readonly deferral: Deferral;
  /** 0 = the caller's credential, 1 = the gateway's, 2 = a fallback credential of the caller. */
  readonly precedence: number;
  /** Index in `provider.order`; infinite = not listed. */
  readonly place: number;
  /** One bit per penalty, the gravest first. */
  readonly penalties: number;
  /** Value of the requested sort; 0 = no sort. */
  readonly metric: number;
  readonly price: number;
  readonly isPinned: boolean;
}

interface CandidateFacts {
  readonly endpoint: Endpoint;
  readonly health: EndpointHealth;
  readonly isPinned: boolean;
}

/** From this share of answers with broken tool calls on, an endpoint is bad at tools. */
const BAD_TOOL_ERROR_RATE = 0.1;

/** True if the penalty applies to a candidate. */
type Penalty = (facts: CandidateFacts) => boolean;

/** The penalties, gravest first; undefined = not for this request. */
const PENALTIES: readonly ((preferences: Preferences, context: RankContext) => Penalty | undefined)[] = [
  (_, { takesSealsBack }) =>
    takesSealsBack && (({ endpoint, health }) => !(isHealthy(health) && takesSealsBack(endpoint))),
  (_, { pin }) => (pin === undefined ? undefined : ({ isPinned }) => !isPinned),
  () => isUnstable,
  // Again without health: among unhealthy endpoints those with custody go first.
  (_, { takesSealsBack }) => takesSealsBack && (({ endpoint }) => !takesSealsBack(endpoint)),
  ({ tier }) => tier && (({ endpoint }) => tierOf(endpoint) !== tier),
  ({ minThroughput, maxLatency }) =>
    minThroughput.length + maxLatency.length === 0
      ? undefined
      : ({ health }) =>
          misses(minThroughput, health.throughput, (measured, least) => measured < least) ||
          misses(maxLatency, health.latency, (measured, most) => measured > most),
  ({ sort }, { usesTools }) =>
    usesTools && sort === undefined
      ? ({ health }) => (health.toolErrorRate ?? 0) >= BAD_TOOL_ERROR_RATE
      : undefined,
];

function isUnstable({ health }: CandidateFacts): boolean {
  return health.isUnstable;
}

/** Unmeasured endpoints miss no threshold. */
function misses(
  thresholds: readonly Threshold[],
  measured: Percentiles | undefined,
  isMissed: (measured: number, value: number) => boolean,
): boolean {
  return (
    measured !== undefined &&
    thresholds.some(({ percentile, value }) => isMissed(measured[percentile], value))
  );
}

/** Values of each sort, smaller first; unmeasured endpoints come after measured ones. */
const SORT_METRICS: Readonly<Record<SortKey, (health: EndpointHealth, price: number) => number>> = {
  price: (_, price) => price,
  throughput: ({ throughput }) => (throughput === undefined ? 0 : -throughput.p50),
  latency: ({ latency }) => latency?.p50 ?? Number.POSITIVE_INFINITY,
  // Good endpoints, then unmeasured ones, then bad ones.
  exacto: ({ toolErrorRate }) => toolErrorRate ?? BAD_TOOL_ERROR_RATE,
};

/** Returns the function that computes the key of a candidate. */
export function rankKeyFunction(
  preferences: Preferences,
  context: RankContext,
): (candidate: Candidate) => RankKey {
  const { health } = context;
  const pin = pinFor(preferences, context.pin);
  const penalties: Penalty[] = [];
  for (const penalty of PENALTIES) {
    const applying = penalty(preferences, context);
    if (applying !== undefined) penalties.push(applying);
  }
  return (candidate) => {
    const { endpoint, access } = candidate;
    const site = siteOf(endpoint, access);
    const facts = { endpoint, health: health.of(site), isPinned: site === pin };
    const price = tokenPriceOf(endpoint);
    const sort = sortOf(endpoint, preferences);
    return {
      candidate,
      deferral: deferralOf(facts.health),
      precedence: access.kind === 'shared' ? 1 : access.credential.isFallback ? 2 : 0,
      place: placeIn(preferences.order, endpoint),
      penalties: penaltyBits(penalties, facts),
      metric: sort === undefined ? 0 : SORT_METRICS[sort](facts.health, price),
      price,
      isPinned: facts.isPinned,
    };
  };
}

function penaltyBits(penalties: readonly Penalty[], facts: CandidateFacts): number {
  let sum = 0;
  for (const isIn of penalties) sum = sum * 2 + (isIn(facts) ? 1 : 0);
  return sum;
}

/** The pin, unless the request has its own order. */
export function pinFor({ order }: Preferences, pin: string | undefined): string | undefined {
  return order.size === 0 ? pin : undefined;
}

export function deferralOf({ state, pausedUntilMs, deferredUntilMs }: EndpointHealth): Deferral {
  if (state === 'cooling') return DEFERRAL.cooling;
  if (pausedUntilMs > 0) return DEFERRAL.paused;
  return deferredUntilMs > 0 ? DEFERRAL.deferred : DEFERRAL.none;
}

/** Endpoints of a requested faster tier are sorted by speed unless the request says otherwise. */
function sortOf(endpoint: Endpoint, { sort, tier }: Preferences): SortKey | undefined {
  const isFaster = tier !== undefined && tier !== 'flex' && tierOf(endpoint) === tier;
  return sort ?? (isFaster ? 'throughput' : undefined);
}

export function compareRankKeys(one: RankKey, other: RankKey): number {
  return (
    one.deferral - other.deferral ||
    one.precedence - other.precedence ||
    compareNumbers(one.place, other.place) ||
    one.penalties - other.penalties ||
    compareNumbers(one.metric, other.metric) ||
    compareCredentials(one.candidate, other.candidate) ||
    one.price - other.price
  );
}

/** Safe for infinite values, whose difference is NaN. */
function compareNumbers(one: number, other: number): number {
  return one === other ? 0 : one < other ? -1 : 1;
}

/** The caller's credentials by provider, then in their owner's order. */
function compareCredentials({ access: one }: Candidate, { access: other }: Candidate): number {
  if (one.kind === 'shared' || other.kind === 'shared') return 0;
  const [first, second] = [one.credential, other.credential];
  if (first.provider !== second.provider) return first.provider < second.provider ? -1 : 1;
  return first.sortOrder - second.sortOrder;
}
