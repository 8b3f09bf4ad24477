import type { Logprobs } from '../../ir/items.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { numberAt, objectAt, objectsAt, stringAt } from '../../kit/json/members.ts';

/** Log probabilities of a candidate in the words of the representation, one entry per token; undefined without any. */
export function readLogprobs(candidate: JsonObject): Logprobs | undefined {
  const result = objectAt(candidate, 'logprobsResult');
  const chosen = objectsAt(result, 'chosenCandidates');
  if (chosen.length === 0) return undefined;
  const top = objectsAt(result, 'topCandidates');
  return chosen.map((token, position) => ({
    ...entryOf(token),
    top_logprobs: objectsAt(top[position], 'candidates').map(entryOf),
  }));
}

function entryOf(candidate: JsonObject): JsonObject {
  const token = stringAt(candidate, 'token') ?? '';
  return { token, logprob: numberAt(candidate, 'logProbability') ?? 0, bytes: [...Buffer.from(token)] };
}
