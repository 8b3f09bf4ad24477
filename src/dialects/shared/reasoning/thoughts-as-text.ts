import type { ReasoningItem } from '../../../ir/items.ts';

/** Separates the parts of one thought in formats and upstreams that have it as one text. */
export const THOUGHT_SEPARATOR = '\n\n';

export function visibleThoughts({ text, summary }: ReasoningItem): string {
  return (text.length > 0 ? text : summary).join(THOUGHT_SEPARATOR);
}
