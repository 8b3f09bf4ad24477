import type { Explanation, RoutingMetadata } from '../../api/contract.ts';
import { endpointName as nameOf, type Stop, stopsOfExplanation, stopsOfRecord } from './route-stops.ts';

/** How the decision of a past generation differs from the one that would be made now. */
export interface RouteComparison {
  readonly isSame: boolean;
  /** One sentence each; the first endpoint first. */
  readonly sentences: readonly string[];
}

/** Compares by provider and model: records name providers by their display names, as explanations do. */
export function compareRoutes(then: RoutingMetadata, now: Explanation): RouteComparison {
  const first = now.candidates[0];
  const served = then.endpoints.available.find(({ selected }) => selected);
  const firstTried = then.attempts?.[0] ?? served;
  const sentences: string[] = [];
  let isWithoutFallbacks = false;
  if (first === undefined) sentences.push('Today no endpoint is left for this request.');
  else if (served === undefined) sentences.push(`Then no endpoint served it. Today ${nameOf(first)} would.`);
  else if (![served, firstTried].some((each) => each !== undefined && nameOf(each) === nameOf(first))) {
    sentences.push(`Then ${nameOf(served)} served it. Today ${nameOf(first)} would be first.`);
  }
  const before = new Set(then.endpoints.available.map(nameOf));
  const after = new Set(now.candidates.map(nameOf));
  for (const endpoint of then.endpoints.available) {
    const name = nameOf(endpoint);
    if (after.has(name)) continue;
    const rejected = now.rejected.find((each) => nameOf(each) === name);
    if (rejected !== undefined) sentences.push(`${name} is left out today: ${rejected.reason}`);
    else if (isFallback(endpoint, then, now)) isWithoutFallbacks = true;
    else sentences.push(absentSentence(endpoint, then));
  }
  for (const name of after) if (!before.has(name)) sentences.push(`${name} was not available then.`);
  if (isWithoutFallbacks) sentences.push(fallbackSentence(then, served));
  return { isSame: sentences.length === 0, sentences };
}

type Endpoint = RoutingMetadata['endpoints']['available'][number];

/** Whether it belongs to a fallback model, which the request of now does not name. */
function isFallback({ model }: Endpoint, then: RoutingMetadata, now: Explanation): boolean {
  const isKnownToday = [...now.candidates, ...now.rejected].some((each) => each.model === model);
  return then.strategy === 'fallback' && model !== then.requested && !isKnownToday;
}

function fallbackSentence({ requested }: RoutingMetadata, served: Endpoint | undefined): string {
  const by = served === undefined || served.model === requested ? '' : `, and ${nameOf(served)} served it`;
  return `Then the request named fallback models${by}. The request of today asks for ${requested} alone.`;
}

/** Routers and aliases choose the model: that one is not chosen says nothing of the catalogue. */
function absentSentence(endpoint: Endpoint, { requested }: RoutingMetadata): string {
  return endpoint.model === requested
    ? `${nameOf(endpoint)} is no longer in the catalogue for this model.`
    : `${nameOf(endpoint)} is not among the endpoints of today.`;
}

/** The part of an endpoint in a decision. */
type Part = 'first' | 'available' | 'left out' | 'absent';

/** Said at an endpoint of the past decision, by its part today. */
const TODAY: Readonly<Record<Part, string>> = {
  first: 'first today',
  available: 'spare today',
  'left out': 'left out today',
  absent: 'not today',
};

/** Said at an endpoint of today's decision, by its part then. */
const THEN: Readonly<Record<Part, string>> = {
  first: 'served then',
  available: 'spare then',
  'left out': 'left out then',
  absent: 'new',
};

/** The stops of both decisions; those whose part differs say so. */
export function markedStops(
  then: RoutingMetadata,
  now: Explanation,
): { readonly past: readonly Stop[]; readonly today: readonly Stop[] } {
  const before = new Map<string, Part>([
    ...(then.endpoints.rejected ?? []).map((each) => [nameOf(each), 'left out'] as const),
    ...then.endpoints.available.map((each) => [nameOf(each), each.selected ? 'first' : 'available'] as const),
  ]);
  const after = new Map<string, Part>([
    ...now.rejected.map((each) => [nameOf(each), 'left out'] as const),
    ...now.candidates.map((each) => [nameOf(each), each.rank === 1 ? 'first' : 'available'] as const),
  ]);
  const marked = (
    stops: readonly Stop[],
    own: ReadonlyMap<string, Part>,
    other: ReadonlyMap<string, Part>,
    words: Readonly<Record<Part, string>>,
  ): readonly Stop[] =>
    stops.map((stop) => {
      if (stop.endpoint === undefined) return stop;
      const part = other.get(stop.endpoint) ?? 'absent';
      return part === (own.get(stop.endpoint) ?? 'absent') ? stop : { ...stop, change: words[part] };
    });
  return {
    past: marked(stopsOfRecord(then), before, after, TODAY),
    today: marked(stopsOfExplanation(now), after, before, THEN),
  };
}
