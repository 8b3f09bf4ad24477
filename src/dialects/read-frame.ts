import { GatewayError } from '../ir/errors.ts';
import type { Frame } from '../kit/frames.ts';
import { isJsonObject, type JsonObject, readJson } from '../kit/json.ts';

/**
 * The object that a frame of an answer holds; undefined for words that are no part of it (end markers, other people's
 * keep-alives). What begins as an object and cannot be read may have been any part of the answer: an error.
 */
export function readFrame({ data }: Frame): JsonObject | GatewayError | undefined {
  const reading = readJson(data);
  if (reading.ok) return isJsonObject(reading.value) ? reading.value : undefined;
  if (!data.trimStart().startsWith('{')) return undefined;
  return new GatewayError('upstream-unavailable', 'The provider sent an event that cannot be read');
}
