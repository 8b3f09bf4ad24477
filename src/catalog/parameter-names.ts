/** All names of `supported_parameters` of conversations; an endpoint without a list of its own takes them all. */
export const PARAMETER_NAMES: readonly string[] = [
  'temperature',
  'top_p',
  'top_k',
  'top_a',
  'min_p',
  'frequency_penalty',
  'presence_penalty',
  'repetition_penalty',
  'seed',
  'stop',
  'max_tokens',
  'logit_bias',
  'logprobs',
  'top_logprobs',
  'response_format',
  'structured_outputs',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'reasoning',
  'include_reasoning',
  'verbosity',
  'web_search_options',
];

export const EMBEDDING_PARAMETER_NAMES: readonly string[] = ['dimensions', 'encoding_format', 'input_type'];
