import { INCLUDE_SEALS } from '../include-values.ts';
import { dropped, droppedExcept, type FieldFates, is, isEmpty, isOnly, rendered } from './field-fates.ts';

/** Report detail of fields that are not sent to Claude, in either of its dialects. */
export const NO_FIELD = 'the upstream has no such field';

/** The fates of request fields in the two dialects of Claude, messages and bedrock; each overrides its differences. */
export const CLAUDE_FATES: FieldFates = {
  temperature: rendered('temperature'),
  topP: rendered('top_p'),
  topK: rendered('top_k'),
  topA: dropped(NO_FIELD, is(0)),
  minP: dropped(NO_FIELD, is(0)),
  frequencyPenalty: dropped(NO_FIELD, is(0)),
  presencePenalty: dropped(NO_FIELD, is(0)),
  repetitionPenalty: dropped(NO_FIELD, is(1)),
  seed: dropped(NO_FIELD),
  stop: rendered('stop'),
  logitBias: dropped(NO_FIELD, isEmpty),
  logprobs: dropped(NO_FIELD, is(false)),
  topLogprobs: dropped(NO_FIELD, is(0)),
  requestedOutputTokens: rendered(),
  tools: rendered('tools'),
  toolChoice: rendered('tool_choice'),
  parallelToolCalls: rendered(),
  reasoning: rendered('reasoning'),
  outputFormat: rendered('response_format', 'structured_outputs'),
  verbosity: dropped(NO_FIELD),
  imageConfig: dropped(NO_FIELD, isEmpty),
  promptCacheKey: dropped(NO_FIELD),
  promptCacheOptions: dropped(NO_FIELD, isEmpty),
  metadata: dropped(NO_FIELD, isEmpty),
  modalities: dropped(NO_FIELD, isOnly('text')),
  cache: rendered(),
  serviceTier: rendered(),
  speed: rendered(),
  truncation: dropped(NO_FIELD, is('disabled')),
  include: droppedExcept([INCLUDE_SEALS], 'the upstream has nothing of that kind to include', {
    namesWholeList: true,
  }),
  items: rendered(),
};
