import type { RequestField } from '../../ir/settings.ts';
import type { RenderTarget } from '../dialect.ts';

/**
 * Settings that an endpoint may not take, with the names in the public model lists that stand for them; any of them is
 * enough. The output limit is none of them: it guards the caller's money.
 */
const PARAMETERS = {
  temperature: ['temperature'],
  topP: ['top_p'],
  topK: ['top_k'],
  frequencyPenalty: ['frequency_penalty'],
  presencePenalty: ['presence_penalty'],
  seed: ['seed'],
  stop: ['stop'],
  logprobs: ['logprobs', 'top_logprobs'],
  topLogprobs: ['top_logprobs'],
  tools: ['tools'],
  toolChoice: ['tool_choice', 'tools'],
  reasoning: ['reasoning', 'reasoning_effort', 'include_reasoning'],
  outputFormat: ['response_format', 'structured_outputs'],
} as const satisfies Partial<Record<RequestField, readonly string[]>>;

/** Settings that the list of an endpoint's parameters speaks about. */
export type Parameter = keyof typeof PARAMETERS;

/** Whether the endpoint takes a setting. */
export function takes(parameter: Parameter, { supportedParameters: taken }: RenderTarget): boolean {
  return taken === undefined || PARAMETERS[parameter].some((name) => taken.has(name));
}
