import { tokenCount, type Usage } from '../../ir/usage.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { objectsAt, textAt } from '../../kit/json/members.ts';
import { optionalCounts } from '../shared/answers/optional-counts.ts';

/**
 * Reads `usageMetadata`; undefined if its counts are missing or implausible. The prompt includes cached tokens; the
 * candidates exclude thoughts; prompt tokens of the upstream's own tools are counted separately.
 */
export function readUsage(usage: JsonObject, webSearchRequests: number): Usage | undefined {
  const total = tokenCount(usage.totalTokenCount);
  const prompt = tokenCount(usage.promptTokenCount);
  const candidates = tokenCount(usage.candidatesTokenCount);
  const thoughts = tokenCount(usage.thoughtsTokenCount) ?? 0;
  const fromTools = tokenCount(usage.toolUsePromptTokenCount) ?? 0;
  if (prompt === undefined && (total === undefined || candidates === undefined)) return undefined;
  // Zero counts are absent on the wire: a missing count is the total minus the others.
  const asked = prompt ?? rest(total, (candidates ?? 0) + thoughts + fromTools);
  const written = candidates ?? rest(total, asked + thoughts + fromTools);
  const isInside = thoughts > 0 && thoughts <= written && total === asked + fromTools + written;
  const outputTokens = isInside ? written : written + thoughts;
  const inputTokens = asked + fromTools;
  return {
    inputTokens,
    cachedTokens: Math.min(tokenCount(usage.cachedContentTokenCount) ?? 0, inputTokens),
    cacheWriteTokens: 0,
    cacheWrite1hTokens: 0,
    outputTokens,
    reasoningTokens: thoughts,
    imageTokens: Math.min(tokensOf('IMAGE', usage, 'candidatesTokensDetails'), outputTokens),
    webSearchRequests,
    ...optionalCounts({
      audioTokens: tokensOf('AUDIO', usage, 'promptTokensDetails', 'toolUsePromptTokensDetails'),
      cachedAudioTokens: tokensOf('AUDIO', usage, 'cacheTokensDetails'),
      inputImageTokens: tokensOf('IMAGE', usage, 'promptTokensDetails'),
      audioOutputTokens: tokensOf('AUDIO', usage, 'candidatesTokensDetails'),
    }),
    source: 'measured',
  };
}

/** Service tiers by the two ways in which upstreams name them: the tier itself, or the kind of traffic. */
const SERVICE_TIERS: ReadonlyMap<string, string> = new Map([
  ['standard', 'default'],
  ['flex', 'flex'],
  ['priority', 'priority'],
  ['ON_DEMAND', 'default'],
  ['ON_DEMAND_FLEX', 'flex'],
  ['ON_DEMAND_PRIORITY', 'priority'],
]);

/** The tier that served an answer; undefined if `usageMetadata` does not say. */
export function readServiceTier(usage: JsonObject): string | undefined {
  return SERVICE_TIERS.get(textAt(usage, 'serviceTier') ?? textAt(usage, 'trafficType') ?? '');
}

function rest(total: number | undefined, others: number): number {
  return total === undefined ? 0 : Math.max(total - others, 0);
}

function tokensOf(kind: 'AUDIO' | 'IMAGE', usage: JsonObject, ...lists: readonly string[]): number {
  let sum = 0;
  for (const list of lists) {
    for (const { modality, tokenCount: count } of objectsAt(usage, list)) {
      if (modality === kind) sum += tokenCount(count) ?? 0;
    }
  }
  return sum;
}
