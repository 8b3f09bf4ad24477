import type { GatewayError } from '../../../ir/errors.ts';
import type { Frame } from '../../../kit/frames/frames.ts';
import type { ExactNumbers } from '../../../kit/json/exact-numbers.ts';
import {
  findExcess,
  isJsonObject,
  JSON_LIMITS,
  type Json,
  type JsonObject,
  readJson,
} from '../../../kit/json/json.ts';
import type { JsonLimits } from '../../../kit/json/json-scanner.ts';
import { BrokenAnswer } from './broken-answers.ts';

/**
 * Limits for an event that only continues an answer, and repeats neither the answer nor the request. It is decoded in
 * one step. Hundreds of tokens with all their log probabilities fit in.
 */
export const STEP_LIMITS: JsonLimits = { ...JSON_LIMITS, values: 50_000 };

/**
 * The object in a frame of an answer; undefined for texts that are no part of it (end markers, keep-alives). Broken
 * JSON, or JSON beyond `limits`, may have been any part of the answer, so it is an error. `numbers`: keeps the digits
 * of long numbers.
 */
export function readFrame(
  { data }: Frame,
  limits = JSON_LIMITS,
  numbers?: ExactNumbers,
): JsonObject | GatewayError | undefined {
  return readObject(data, limits, /^\s*\{/, numbers);
}

/** `readFrame`, if the object may be in a list of one. */
export function readListedFrame(
  { data }: Frame,
  limits: JsonLimits,
  numbers?: ExactNumbers,
): JsonObject | GatewayError | undefined {
  return readObject(data, limits, /^\s*(?:\[\s*)?\{/, numbers);
}

function readObject(
  text: string,
  limits: JsonLimits,
  beginning: RegExp,
  numbers: ExactNumbers | undefined,
): JsonObject | GatewayError | undefined {
  if (!beginning.test(text)) return isExcessiveList(text, limits) ? unreadable() : undefined;
  const reading = readJson(text, limits, numbers);
  if (!reading.ok) return unreadable();
  const value: Json | undefined = Array.isArray(reading.value) ? reading.value[0] : reading.value;
  return isJsonObject(value) ? value : undefined;
}

function isExcessiveList(text: string, limits: JsonLimits): boolean {
  return /^\s*\[/.test(text) && findExcess(text, limits) !== undefined;
}

function unreadable(): GatewayError {
  return new BrokenAnswer('The provider sent an event that cannot be read');
}
