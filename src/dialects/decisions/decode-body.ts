import type { DecisionSettings } from '../../ir/decision.ts';
import type { Event } from '../../ir/events.ts';
import { NO_USAGE, tokenCount } from '../../ir/usage.ts';
import { lookUp } from '../../kit/collections/lookup.ts';
import { isJsonObject, type Json, type JsonObject } from '../../kit/json/json.ts';
import { objectAt, textAt } from '../../kit/json/members.ts';
import type { DecodeContext } from '../dialect.ts';
import { BrokenAnswer } from '../shared/answers/broken-answers.ts';
import { writePassedAnswers } from '../shared/decisions/answers.ts';

/** The events of a body with decisions: its answers as text. Never throws. */
export function decodeBody(body: JsonObject, { request: { decision } }: DecodeContext): Event[] {
  if (decision === undefined) return [failure('an answer to another request')];
  const { answers } = body;
  const usage = usageEvents(objectAt(body, 'usage'));
  if (answers === undefined || !answersAll(answers, decision)) {
    return [...usage, failure('decisions without an answer to each question')];
  }
  const id = textAt(body, 'id');
  return [
    { type: 'start', ...(id !== undefined && { upstreamId: id }) },
    { type: 'item-start', item: 0, head: { type: 'message' } },
    { type: 'part-start', item: 0, part: 0, kind: 'text' },
    { type: 'text-delta', item: 0, part: 0, kind: 'text', text: writePassedAnswers(answers) },
    { type: 'part-end', item: 0, part: 0, kind: 'text' },
    { type: 'item-end', item: 0, status: 'completed' },
    ...usage,
    { type: 'finish', reason: 'stop' },
  ];
}

function failure(sent: string): Event {
  return { type: 'failure', error: new BrokenAnswer(`The provider sent ${sent}`) };
}

function answersAll(answers: Json, { form, questions }: DecisionSettings): boolean {
  if (form === 'openai') {
    return Array.isArray(answers) && answers.length === questions.length && answers.every(isJsonObject);
  }
  return isJsonObject(answers) && questions.every(({ name }) => isJsonObject(lookUp(answers, name ?? '')));
}

function usageEvents(usage: JsonObject | undefined): Event[] {
  const inputTokens = tokenCount(usage?.input_tokens);
  if (usage === undefined || inputTokens === undefined) return [];
  const read = objectAt(usage, 'input_tokens_details');
  const written = objectAt(usage, 'output_tokens_details');
  return [
    {
      type: 'usage',
      usage: {
        ...NO_USAGE,
        inputTokens,
        outputTokens: tokenCount(usage.output_tokens) ?? 0,
        cachedTokens: tokenCount(read?.cached_tokens) ?? 0,
        cacheWriteTokens: tokenCount(read?.cache_write_tokens) ?? 0,
        reasoningTokens: tokenCount(written?.reasoning_tokens) ?? 0,
        source: 'measured',
      },
    },
  ];
}
