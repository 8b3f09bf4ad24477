import { familyOf, type Sealed } from './custody.ts';

/** Thoughts that Claude models seal: the same at every upstream that serves them. */

/** Reasoning format of their seals. */
export const CLAUDE_FORMAT = 'anthropic-claude-v1';

/** Why thoughts of an earlier turn are not sent. */
export function whyUnsealed({ signature = '', encrypted = '', format }: Sealed): string {
  const isSealed = signature !== '' || encrypted !== '';
  return isSealed && familyOf(format) !== 'anthropic'
    ? 'reasoning that another model family sealed: the upstream would refuse it'
    : 'reasoning without a seal: the upstream would refuse it';
}
