import type { Endpoint } from './catalog.ts';

/**
 * The output limit at an endpoint, tokens: the smallest of its own maximum and the given limits (requested, paid for,
 * left in the context). Undefined = unlimited. Only this file compares them; four names lead here and on:
 *
 * - `requestedOutputTokens`: what the caller asks for. `dialects/<format>/parse.ts` reads it from the caller's member
 *   (`ConversationForm.limitFields`), routing rejects endpoints by it, `gateway/admission` sizes the reservation by it.
 * - `maxOutputTokens`: what the endpoint (or model) writes at most, from the catalogue.
 * - `PaidLimits.outputTokens`: what the reservation pays for (`Admission`). `fitOutput` lowers the request to it, or
 *   adds it to a request without a limit.
 * - `outputLimit` of `RenderTarget`: the result of this function for `maxOutputTokens` and `PaidLimits`.
 *   `cappedLimit` lowers the request to it, and `dialects/<dialect>/render.ts` writes that into the upstream's member.
 *
 * `dialects/shared/requests/output-limit.ts` says which members of a body hold it.
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

/** True if more tokens are asked for than `most`; undefined = unlimited. */
export function exceeds(askedTokens: number, most: number | undefined): boolean {
  return most !== undefined && askedTokens > most;
}
