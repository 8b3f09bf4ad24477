import { NO_USAGE, tokenCount, type Usage } from '../../ir/usage.ts';
import { isJsonObject, type Json, type JsonObject } from '../../kit/json/json.ts';
import { objectsAt } from '../../kit/json/members.ts';

/** Token counts. `inputTokens` excludes cache reads and writes, which are counted separately. */

/**
 * Reads a usage object; undefined unless both counts are present: half a measurement must not pass for a whole one.
 */
export function readUsage(value: Json | undefined): Usage | undefined {
  if (!isJsonObject(value)) return undefined;
  const fresh = tokenCount(value.inputTokens);
  const outputTokens = tokenCount(value.outputTokens);
  if (fresh === undefined || outputTokens === undefined) return undefined;
  const cachedTokens = tokenCount(value.cacheReadInputTokens) ?? 0;
  const written5m = writtenFor('5m', value);
  const written1h = writtenFor('1h', value);
  const written = Math.max(tokenCount(value.cacheWriteInputTokens) ?? 0, written5m + written1h);
  return {
    ...NO_USAGE,
    inputTokens: fresh + cachedTokens + written,
    cachedTokens,
    cacheWriteTokens: written - written1h,
    cacheWrite1hTokens: written1h,
    outputTokens,
    source: 'measured',
  };
}

function writtenFor(ttl: '5m' | '1h', usage: JsonObject): number {
  return objectsAt(usage, 'cacheDetails')
    .filter((detail) => detail.ttl === ttl)
    .reduce((sum, detail) => sum + (tokenCount(detail.inputTokens) ?? 0), 0);
}
