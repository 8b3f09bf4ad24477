import { GatewayError } from '../../../ir/errors.ts';
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

/**
 * What an event may hold that only goes on with an answer, and never repeats it or the request. All of it is decoded without
 * a break. Hundreds of tokens with all their log probabilities fit in.
 */
export const STEP_LIMITS: JsonLimits = { ...JSON_LIMITS, values: 50_000 };

/**
 * The object that a frame of an answer holds; undefined for words that are no part of it (end markers, other people's
 * keep-alives). What begins as an object and cannot be read, or begins as an object or list and holds more than `limits`
 * allow, may have been any part of the answer: an error. `numbers`: keeps the digits of long numbers.
 */
export function readFrame(
  { data }: Frame,
  limits = JSON_LIMITS,
  numbers?: ExactNumbers,
): JsonObject | GatewayError | undefined {
  return readObject(numbers?.read(data) ?? data, limits, /^\s*\{/);
}

/** The same where the object may stand in a list of one. */
export function readListedFrame({ data }: Frame, limits: JsonLimits): JsonObject | GatewayError | undefined {
  return readObject(data, limits, /^\s*(?:\[\s*)?\{/);
}

function readObject(
  text: string,
  limits: JsonLimits,
  beginning: RegExp,
): JsonObject | GatewayError | undefined {
  if (!beginning.test(text)) return isExcessiveList(text, limits) ? unreadable() : undefined;
  const reading = readJson(text, limits);
  if (!reading.ok) return unreadable();
  const value: Json | undefined = Array.isArray(reading.value) ? reading.value[0] : reading.value;
  return isJsonObject(value) ? value : undefined;
}

function isExcessiveList(text: string, limits: JsonLimits): boolean {
  return /^\s*\[/.test(text) && findExcess(text, limits) !== undefined;
}

function unreadable(): GatewayError {
  return new GatewayError('upstream-unavailable', 'The provider sent an event that cannot be read');
}
