import type { GatewayError } from '../../../ir/errors.ts';
import type { Overflow } from '../../../ir/overflow.ts';

/** How the owner of a format says that a prompt is too long. Agents shorten their conversation if they read that. */
export interface OverflowWords {
  /** Finds these words in a message. */
  readonly pattern: RegExp;
  readonly write: (overflow: Overflow) => string;
}

/** The words of the responses and chat formats, and of embeddings. */
export const MAXIMUM_CONTEXT_LENGTH: OverflowWords = {
  pattern: /maximum context length/i,
  write({ most, prompt, output, unit = 'tokens' }) {
    if (most === undefined) return "The prompt exceeds this model's maximum context length.";
    const length = `This model's maximum context length is ${most} ${unit}. However, `;
    if (prompt === undefined) return `${length}the prompt is longer.`;
    const about = unit === 'tokens' ? 'about ' : '';
    return output === undefined
      ? `${length}you requested ${about}${prompt} ${unit}.`
      : `${length}you requested ${about}${prompt + output} ${unit} (${prompt} in the prompt, ${output} of output).`;
  },
};

/** The words of the messages format. */
export const PROMPT_IS_TOO_LONG: OverflowWords = {
  pattern: /prompt is too long/i,
  write({ most, prompt, output, unit = 'tokens' }) {
    if (most === undefined) return 'prompt is too long.';
    if (prompt === undefined) return `prompt is too long: more than ${most} ${unit}.`;
    if (output === undefined) return `prompt is too long: ${prompt} ${unit} > ${most} maximum.`;
    const left = Math.max(0, most - output);
    return `prompt is too long: ${prompt} ${unit} > ${left} maximum with ${output} of output in a context of ${most}.`;
  },
};

/** The message of an error: if the prompt is too long, in these words. */
export function messageOf({ kind, message, overflow = {} }: GatewayError, words: OverflowWords): string {
  if (kind !== 'context-length' || words.pattern.test(message)) return message;
  return `${words.write(overflow)} ${overflow.more ?? message}`;
}
