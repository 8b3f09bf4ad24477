import type { Endpoint } from '../../catalog/catalog.ts';
import { tierOf } from '../../catalog/endpoint-tier.ts';
import { type EndpointHealth, type HealthView, isWell, type Percentiles } from '../health/endpoint-health.ts';
import { type Candidate, siteOf } from '../rules/candidate.ts';
import type { Preferences, SortKey, Threshold } from '../rules/preferences.ts';
import { placeIn } from '../rules/provider-names.ts';
import { tokenPriceOf } from './token-price.ts';

/** What the order of candidates depends on besides the candidates and the preferences. */
export interface Circumstances {
  readonly health: HealthView;
  /** The site that an earlier request of the conversation went to. */
  readonly pin: string | undefined;
  /** Whether an endpoint gets back what was sealed in the conversation; undefined = nothing was. */
  readonly takesSealsBack: ((endpoint: Endpoint) => boolean) | undefined;
  /** The model may call tools. */
  readonly usesTools: boolean;
}

/** Why a candidate is not called in its place, smaller is better. */
export const DEFERRAL = {
  none: 0,
  /** It failed and asked to be left alone: it is called when no other is left. */
  deferred: 1,
  /** A rate limit holds. */
  paused: 2,
  cooling: 3,
} as const;

export type Deferral = (typeof DEFERRAL)[keyof typeof DEFERRAL];

/** Everything that a candidate is compared by, smaller is better; in this order. */
export interface Standing {
  readonly candidate: Candidate;
  readonly deferral: Deferral;
  /** 0 = the caller's credential, 1 = the gateway's, 2 = one that the caller keeps for when all else fails. */
  readonly precedence: number;
  /** In `provider.order`; infinite = not listed. */
  readonly place: number;
  /** One binary digit for each demerit, the gravest first. */
  readonly demerits: number;
  /** What is sorted by; 0 where nothing is. */
  readonly metric: number;
  readonly price: number;
  readonly isPinned: boolean;
}

/** A candidate with what is known of it. */
interface Knowledge {
  readonly endpoint: Endpoint;
  readonly health: EndpointHealth;
  readonly isPinned: boolean;
}

/** The share of answers with broken tool calls from which on an endpoint is bad at them. */
const BAD_TOOL_ERROR_RATE = 0.1;

/** Says whether something puts a candidate behind others. */
type Demerit = (knowledge: Knowledge) => boolean;

/** What puts candidates behind others, the gravest first; undefined where it does not apply. */
const DEMERITS: readonly ((preferences: Preferences, circumstances: Circumstances) => Demerit | undefined)[] =
  [
    (_, { takesSealsBack }) =>
      takesSealsBack && (({ endpoint, health }) => !(isWell(health) && takesSealsBack(endpoint))),
    (_, { pin }) => (pin === undefined ? undefined : ({ isPinned }) => !isPinned),
    () => isUnstable,
    // Again, for those that are not well.
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

function isUnstable({ health }: Knowledge): boolean {
  return health.isUnstable;
}

/** What was never measured is given the benefit of the doubt. */
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

/** What is sorted by, smaller first. Who was never measured comes after those who were. */
const METRICS: Readonly<Record<SortKey, (health: EndpointHealth, price: number) => number>> = {
  price: (_, price) => price,
  throughput: ({ throughput }) => (throughput === undefined ? 0 : -throughput.p50),
  latency: ({ latency }) => latency?.p50 ?? Number.POSITIVE_INFINITY,
  // Good ones, then unknown ones, then bad ones.
  exacto: ({ toolErrorRate }) => toolErrorRate ?? BAD_TOOL_ERROR_RATE,
};

/** Makes the function that says how a candidate stands. */
export function standings(
  preferences: Preferences,
  circumstances: Circumstances,
): (candidate: Candidate) => Standing {
  const { health } = circumstances;
  const pin = pinFor(preferences, circumstances.pin);
  const demerits: Demerit[] = [];
  for (const demerit of DEMERITS) {
    const applying = demerit(preferences, circumstances);
    if (applying !== undefined) demerits.push(applying);
  }
  return (candidate) => {
    const { endpoint, access } = candidate;
    const site = siteOf(endpoint, access);
    const knowledge = { endpoint, health: health.of(site), isPinned: site === pin };
    const price = tokenPriceOf(endpoint);
    const sort = sortOf(endpoint, preferences);
    return {
      candidate,
      deferral: deferralOf(knowledge.health),
      precedence: access.kind === 'shared' ? 1 : access.credential.isFallback ? 2 : 0,
      place: placeIn(preferences.order, endpoint),
      demerits: sumOf(demerits, knowledge),
      metric: sort === undefined ? 0 : METRICS[sort](knowledge.health, price),
      price,
      isPinned: knowledge.isPinned,
    };
  };
}

function sumOf(demerits: readonly Demerit[], knowledge: Knowledge): number {
  let sum = 0;
  for (const isIn of demerits) sum = sum * 2 + (isIn(knowledge) ? 1 : 0);
  return sum;
}

/** The pin that counts: who names an order wants that one. */
export function pinFor({ order }: Preferences, pin: string | undefined): string | undefined {
  return order.size === 0 ? pin : undefined;
}

/** Why a candidate is not called in its place, by its health. */
export function deferralOf({ state, pausedUntilMs, deferredUntilMs }: EndpointHealth): Deferral {
  if (state === 'cooling') return DEFERRAL.cooling;
  if (pausedUntilMs > 0) return DEFERRAL.paused;
  return deferredUntilMs > 0 ? DEFERRAL.deferred : DEFERRAL.none;
}

/** Endpoints of the priority tier that was asked for are there for their speed. */
function sortOf(endpoint: Endpoint, { sort, tier }: Preferences): SortKey | undefined {
  return sort ?? (tier === 'priority' && tierOf(endpoint) === 'priority' ? 'throughput' : undefined);
}

/** Who comes first; 0 = they are equal. */
export function compareStandings(one: Standing, other: Standing): number {
  return (
    one.deferral - other.deferral ||
    one.precedence - other.precedence ||
    compareNumbers(one.place, other.place) ||
    one.demerits - other.demerits ||
    compareNumbers(one.metric, other.metric) ||
    compareCredentials(one.candidate, other.candidate) ||
    one.price - other.price
  );
}

/** Also of infinite ones. */
function compareNumbers(one: number, other: number): number {
  return one === other ? 0 : one < other ? -1 : 1;
}

/** The caller's credentials by provider, then as their owner sorted them. */
function compareCredentials({ access: one }: Candidate, { access: other }: Candidate): number {
  if (one.kind === 'shared' || other.kind === 'shared') return 0;
  const [first, second] = [one.credential, other.credential];
  if (first.provider !== second.provider) return first.provider < second.provider ? -1 : 1;
  return first.sortOrder - second.sortOrder;
}
