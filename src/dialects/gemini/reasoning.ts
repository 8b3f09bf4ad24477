import type { Seal } from '../../ir/events.ts';
import type { ReasoningItem, ToolCallItem } from '../../ir/items.ts';
import type { GenerationRequest } from '../../ir/request.ts';
import { takesCallSeal } from '../shared/reasoning/seals-taken.ts';
import { facts } from './facts.ts';
import { NATIVE_FORMAT } from './wire.ts';

/**
 * Thought signatures in both directions. Upstreams put them on any part: a thought, a call, text, an image, or an empty
 * text of its own.
 *
 * | on              | becomes                                                    |
 * | --------------- | ---------------------------------------------------------- |
 * | a thought       | the signature of the reasoning item                        |
 * | a call          | the call's own seal, and a reasoning item before it        |
 * | text, an image  | a reasoning item after it, with a `signature` alone        |
 * | nothing         | a reasoning item with `encrypted` alone                    |
 *
 * The reasoning item before a call has the id of the call, and the seal as `encrypted`: not every format has a field
 * for it on calls, and many clients replay only what their format documents.
 */

// --- From the wire --------------------------------------------------------------------------------------------------

/** Seal of the adjacent part. */
export function signatureSeal(signature: string): Seal {
  return { signature, format: NATIVE_FORMAT };
}

export function encryptedSeal(encrypted: string): Seal {
  return { encrypted, format: NATIVE_FORMAT };
}

// --- To the wire ----------------------------------------------------------------------------------------------------

/** The signature in a reasoning item, if this family minted it. */
export function ownSealOfThoughts(item: ReasoningItem): string | undefined {
  return facts.seals.ofThoughts(item) ? (item.signature ?? item.encrypted) : undefined;
}

/** The signature on a call, if this family minted it. */
export function ownSealOfCall(
  item: ToolCallItem,
  request: Pick<GenerationRequest, 'formatFacts'>,
): string | undefined {
  return takesCallSeal(facts.seals, item, request) ? item.signature : undefined;
}
