import type { JsonObject } from '../../kit/json/json.ts';

/** The generateContent format on the wire. Only upstreams speak it, so there is no request schema. */

// --- Content parts --------------------------------------------------------------------------------------------------

/** One piece of a turn: `text`, `inlineData`, `fileData`, `functionCall`, `functionResponse`, ... */
export interface WirePart extends JsonObject {
  thoughtSignature?: string;
}

export function textPart(text: string): WirePart {
  return { text };
}

// --- Messages -------------------------------------------------------------------------------------------------------

/** Role of a turn. Tool results belong to the user. */
export type WireRole = 'user' | 'model';

export interface WireContent extends JsonObject {
  role: WireRole;
  parts: WirePart[];
}

// --- Reasoning ------------------------------------------------------------------------------------------------------

/** Family of seals that upstreams of this dialect mint. */
export const NATIVE_FORMAT = 'google-gemini-v1';

/** Documented placeholder for a required signature of a call, if another family made the call. */
export const NO_SIGNATURE = 'skip_thought_signature_validator';

// --- Limits ---------------------------------------------------------------------------------------------------------

export const MAX_STOP_SEQUENCES = 5;

/** Alternatives per token that upstreams accept. */
export const MAX_LOGPROBS = 20;
