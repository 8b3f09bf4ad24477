import type { Settled } from '../../ir/events.ts';
import type { Result } from '../../ir/result.ts';
import type { Json, JsonObject } from '../../kit/json/json.ts';
import type { ReplyContext } from '../dialect.ts';
import { costMembers } from '../shared/answers/cost-members.ts';

/** The reply: one entry for each input, in their order. */
export function encodeBody({ vectors = [], settled }: Result, context: ReplyContext): JsonObject {
  return {
    object: 'list',
    data: vectors.map((vector, index) => ({ object: 'embedding', index, embedding: vector as Json })),
    model: context.model,
    id: context.generationId,
    provider: context.provider,
    ...(settled !== undefined && { usage: renderUsage(settled) }),
    ...(settled?.metadata !== undefined && {
      [`${context.vendor}_metadata`]: settled.metadata as unknown as JsonObject,
    }),
  };
}

/** Usage and cost. Vectors have no tokens: the total is that of the inputs. */
function renderUsage({ usage, bill }: Settled): JsonObject {
  return {
    prompt_tokens: usage.inputTokens,
    total_tokens: usage.inputTokens,
    ...costMembers(bill),
  };
}
