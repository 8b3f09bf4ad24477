import type { Endpoint } from './catalog.ts';

/**
 * The output limit at an endpoint, tokens: the smallest of what the endpoint writes and the other limits that are given (what
 * the caller asks for, what is paid for, what the context holds). Undefined = nothing limits the output.
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
