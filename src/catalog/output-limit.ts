import type { Endpoint } from './catalog.ts';

/**
 * The output limit at an endpoint, tokens: the smallest of the endpoint's own limit and the given ones (requested,
 * affordable, left in the context). Undefined = unlimited.
 */
export function outputLimitAt(
  { maxOutputTokens }: Pick<Endpoint, 'maxOutputTokens'>,
  ...limits: readonly (number | undefined)[]
): number | undefined {
  let smallest = maxOutputTokens;
  for (const limit of limits) {
    if (limit !== undefined && (smallest === undefined || limit < smallest)) smallest = limit;
  }
  return smallest;
}
