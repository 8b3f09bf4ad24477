import type { Sampling } from '../../ir/settings.ts';
import { numberAt } from '../../kit/json/members.ts';
import { SettingTable } from '../shared/requests/setting-table.ts';

/** Sampling settings of the responses format. Log probabilities are asked for in `include`. */
export const SAMPLING = new SettingTable<Sampling>({
  temperature: ['temperature', numberAt],
  topP: ['top_p', numberAt],
  topK: ['top_k', numberAt],
  frequencyPenalty: ['frequency_penalty', numberAt],
  presencePenalty: ['presence_penalty', numberAt],
  topLogprobs: ['top_logprobs', numberAt],
});
