import type { Sampling } from '../../ir/settings.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { booleanAt, numberAt, objectAt } from '../../kit/json/members.ts';
import { SettingTable } from '../shared/requests/setting-table.ts';

/** Sampling settings of the chat format. */
export const SAMPLING = new SettingTable<Sampling>({
  temperature: ['temperature', numberAt],
  topP: ['top_p', numberAt],
  topK: ['top_k', numberAt],
  topA: ['top_a', numberAt],
  minP: ['min_p', numberAt],
  frequencyPenalty: ['frequency_penalty', numberAt],
  presencePenalty: ['presence_penalty', numberAt],
  repetitionPenalty: ['repetition_penalty', numberAt],
  seed: ['seed', numberAt],
  stop: ['stop', stopsAt],
  logitBias: ['logit_bias', objectAt],
  logprobs: ['logprobs', booleanAt],
  topLogprobs: ['top_logprobs', numberAt],
});

/** One stop sequence may stand without a list. */
function stopsAt(body: JsonObject, name: string): string[] | undefined {
  const stop = body[name];
  if (typeof stop === 'string') return [stop];
  return Array.isArray(stop) ? (stop as string[]) : undefined;
}
