import type { Format, Item, Part } from '../../../ir/items.ts';
import type { Report } from '../report/report.ts';

/**
 * Files that a provider keeps are known by ids that nobody else can read. Callers of the responses and chat formats mean
 * one store of files, callers of the messages format another.
 */
const STORES: Readonly<Record<Format, 'openai' | 'anthropic'>> = {
  responses: 'openai',
  chat: 'openai',
  messages: 'anthropic',
};

/** Addresses in the store of a provider whose upstreams speak a dialect of their own. */
const STORE_ADDRESS = /^(?:gs|s3):/i;

/** The items without files that the upstream does not have. */
export function withoutForeignFiles(
  items: readonly Item[],
  from: Format,
  to: Format,
  report: Report,
): readonly Item[] {
  const isForeign = (part: Part) =>
    (part.type === 'image' || part.type === 'file') &&
    (part.source.kind === 'url'
      ? STORE_ADDRESS.test(part.source.url)
      : part.source.kind === 'file-id' && STORES[from] !== STORES[to]);
  return items.map((item) => {
    if (item.type !== 'message' && item.type !== 'tool-result') return item;
    if (!item.content.some(isForeign)) return item;
    for (const part of item.content.filter(isForeign)) {
      report.dropped(
        report.place(part, 'items'),
        'a file of another provider: the upstream does not have it',
      );
    }
    return report.standIn({ ...item, content: item.content.filter((part) => !isForeign(part)) }, item);
  });
}
