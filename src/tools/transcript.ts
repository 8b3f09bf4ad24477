import type { Item, Part } from '../ir/items.ts';

/** Longest transcript, characters; the beginning is left out. */
const MAX_CHARACTERS = 200_000;

const LEFT_OUT = '[earlier parts left out]\n\n';

/** A conversation as text, for a model that has none of its tools. Thoughts are left out. */
export function transcriptOf(items: readonly Item[]): string {
  const text = items.flatMap((item) => entryOf(item) ?? []).join('\n\n');
  return text.length <= MAX_CHARACTERS ? text : LEFT_OUT + text.slice(-MAX_CHARACTERS);
}

function entryOf(item: Item): string | undefined {
  switch (item.type) {
    case 'message':
      return `${item.role}: ${textOf(item.content)}`;
    case 'tool-call':
      return `tool call ${item.name}: ${item.input}`;
    case 'tool-result':
      return `tool result: ${textOf(item.content)}`;
    case 'image':
      return 'assistant: [image]';
    case 'reasoning':
    case 'opaque':
      return undefined;
  }
}

function textOf(parts: readonly Part[]): string {
  return parts
    .map((part) => {
      if (part.type === 'text') return part.text;
      return part.type === 'refusal' ? part.refusal : `[${part.type}]`;
    })
    .join('\n');
}
