import type { Explanation, RoutingMetadata } from '../../api/contract.ts';

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
  const sentences: string[] = [];
  if (first === undefined) sentences.push('Today no endpoint is left for this request.');
  else if (served === undefined) sentences.push(`Then no endpoint served it. Today ${nameOf(first)} would.`);
  else if (nameOf(first) !== nameOf(served)) {
    sentences.push(`Then ${nameOf(served)} served it. Today ${nameOf(first)} would be first.`);
  }
  const before = new Set(then.endpoints.available.map(nameOf));
  const after = new Set(now.candidates.map(nameOf));
  for (const name of before) {
    if (after.has(name)) continue;
    const rejected = now.rejected.find((endpoint) => nameOf(endpoint) === name);
    sentences.push(
      rejected === undefined
        ? `${name} is no longer in the catalogue for this model.`
        : `${name} is left out today: ${rejected.reason}`,
    );
  }
  for (const name of after) if (!before.has(name)) sentences.push(`${name} was not available then.`);
  return { isSame: sentences.length === 0, sentences };
}

function nameOf({ provider, model }: { readonly provider: string; readonly model: string }): string {
  return `${provider} (${model})`;
}
