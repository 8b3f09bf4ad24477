import type { Format, Item, Part } from '../ir/items.ts';
import type { Report } from './report.ts';

/**
 * Files that a provider keeps are known by ids that nobody else can read. Callers of the responses and chat formats mean
 * one store of files, callers of the messages format another.
 */
const STORES: Readonly<Record<Format, 'openai' | 'anthropic'>> = {
  responses: 'openai',
  chat: 'openai',
  messages: 'anthropic',
};

/** The items without files that the upstream does not have. */
export function withoutForeignFiles(
  items: readonly Item[],
  from: Format,
  to: Format,
  report: Report,
): readonly Item[] {
  if (STORES[from] === STORES[to]) return items;
  return items.map((item) => {
    if (item.type !== 'message' && item.type !== 'tool-result') return item;
    if (!item.content.some(isKept)) return item;
    for (const part of item.content.filter(isKept)) {
      report.dropped(
        report.place(part, 'items'),
        'a file of another provider: the upstream does not have it',
      );
    }
    return report.standIn({ ...item, content: item.content.filter((part) => !isKept(part)) }, item);
  });
}

function isKept(part: Part): boolean {
  return (part.type === 'image' || part.type === 'file') && part.source.kind === 'file-id';
}
