import { nanosOf } from '../../kit/money.ts';
import { contextLengthBucketOf, modalitiesText } from '../../ports/events/event-names.ts';
import type { GenerationEvent } from '../../ports/events/events.ts';
import { parseModelId } from '../../routing/resolve/model-id.ts';
import type { ImportedApp } from './imported-app.ts';
import type { UsageLine } from './usage-line.ts';
import type { UsageOwner } from './usage-owners.ts';

/** A parsed line with its owner and app. */
export interface ImportedLine {
  readonly line: UsageLine;
  readonly createdAtMs: number;
  readonly owner: UsageOwner;
  readonly app: ImportedApp;
}

export function importedEventOf({ line, createdAtMs, owner, app }: ImportedLine): GenerationEvent {
  const { modelId, variant } = modelOf(line.model);
  const nanos = nanosOf(line.cost_usd ?? 0);
  const isByok = line.is_byok ?? false;
  return {
    id: line.generation_id,
    createdAtMs,
    accountId: owner.accountId,
    workspaceId: owner.workspaceId,
    keyHash: owner.keyHash,
    userId: owner.userId,
    app: app.sighting?.host ?? null,
    modelId,
    model: modelId,
    variant,
    provider: line.provider ?? null,
    endpoint: null,
    origin: app.origin,
    country: line.country?.toUpperCase() ?? null,
    finishReason: line.finish_reason ?? null,
    externalUser: line.user ?? null,
    contextLengthBucket: contextLengthBucketOf(line.tokens_prompt),
    modalities: modalitiesText({ tool_calling: line.finish_reason === 'tool_calls' }),
    isZdr: false,
    isByok,
    isGuarded: false,
    isFromCache: false,
    promptTokens: line.tokens_prompt,
    completionTokens: line.tokens_completion,
    reasoningTokens: line.tokens_reasoning ?? 0,
    cachedTokens: line.tokens_cached ?? 0,
    latencyMs: wholeOrNull(line.latency_ms),
    generationMs: wholeOrNull(line.generation_ms),
    creditNanos: isByok ? 0n : nanos,
    byokNanos: isByok ? nanos : 0n,
    upstreamNanos: nanos,
    cacheNanos: null,
    webNanos: null,
    isImported: true,
  };
}

/** Splits a routing suffix (`:free`, `:nitro`) off as the variant; any other suffix is part of the model's id. */
function modelOf(written: string): { readonly modelId: string; readonly variant: string } {
  if (!written.includes(':')) return { modelId: written, variant: 'standard' };
  const { base, variants, isOnline } = parseModelId(written);
  const [suffix] = [...variants, ...(isOnline ? ['online'] : []), ...base.split(':').slice(1)];
  return { modelId: base, variant: suffix ?? 'standard' };
}

function wholeOrNull(value: number | null | undefined): number | null {
  return value === null || value === undefined ? null : Math.round(value);
}
