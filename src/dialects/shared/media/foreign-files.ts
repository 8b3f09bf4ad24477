import type { ConversationForm } from '../../../ir/format-facts.ts';
import type { Item, Part } from '../../../ir/items.ts';
import type { Report } from '../report/report.ts';

/** Addresses in the store of a provider whose upstreams speak a dialect of their own. */
const STORE_ADDRESS = /^(?:gs|s3):/i;

/**
 * The items without files that the upstream cannot read. A provider stores files under ids that no other provider can
 * read: `store` is the upstream's own.
 */
export function withoutForeignFiles(
  items: readonly Item[],
  store: ConversationForm['fileStore'],
  report: Report,
): readonly Item[] {
  const isForeign = (part: Part) =>
    (part.type === 'image' || part.type === 'file') &&
    (part.source.kind === 'url'
      ? STORE_ADDRESS.test(part.source.url)
      : part.source.kind === 'file-id' && report.form.fileStore !== store);
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
