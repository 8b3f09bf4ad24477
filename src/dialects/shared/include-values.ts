/** Values of the responses format's `include` that other dialects have settings for. */

export const INCLUDE_LOGPROBS = 'message.output_text.logprobs';

export const INCLUDE_SEALS = 'reasoning.encrypted_content';
