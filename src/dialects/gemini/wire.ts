import type { JsonObject } from '../../kit/json/json.ts';

/** The generateContent format as it is on the wire. Only upstreams speak it, so there is no request schema. */

/** Family of seals that upstreams of this dialect mint. */
export const NATIVE_FORMAT = 'google-gemini-v1';

/**
 * Stands where the signature of a call is demanded and there is none, because another family made the call: the
 * upstream documents the word for that.
 */
export const NO_SIGNATURE = 'skip_thought_signature_validator';

/** Upstreams take this many stop strings. */
export const MAX_STOP_SEQUENCES = 5;

/** Upstreams take this many alternatives per token. */
export const MAX_LOGPROBS = 20;

/** Who says something. Results of tools are said by the user. */
export type WireRole = 'user' | 'model';

/** One piece of a turn: `text`, `inlineData`, `fileData`, `functionCall`, `functionResponse`, ... */
export interface WirePart extends JsonObject {
  thoughtSignature?: string;
}

/** One turn. */
export interface WireContent extends JsonObject {
  role: WireRole;
  parts: WirePart[];
}

/** A part that is text. */
export function textPart(text: string): WirePart {
  return { text };
}
