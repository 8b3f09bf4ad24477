import type { ListedObject } from './object-storage.ts';

export interface ListPage {
  readonly objects: readonly ListedObject[];
  /** Leads to the next page; undefined on the last. */
  readonly next: string | undefined;
}

const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', apos: "'", amp: '&' };

/** The text of the first element with a name; undefined without one. Replies of S3 have no attributes that matter. */
export function elementIn(xml: string, name: string): string | undefined {
  const [, text] = new RegExp(`<${name}(?:\\s[^>]*)?>([^<]*)</${name}>`).exec(xml) ?? [];
  return text === undefined ? undefined : unescaped(text);
}

export function listPageOf(xml: string): ListPage {
  const objects = [...xml.matchAll(/<Contents>(.*?)<\/Contents>/gs)].map(([, entry = '']) => ({
    key: elementIn(entry, 'Key') ?? '',
    bytes: Number(elementIn(entry, 'Size') ?? 0),
    storedAtMs: Date.parse(elementIn(entry, 'LastModified') ?? ''),
  }));
  const isLast = elementIn(xml, 'IsTruncated') !== 'true';
  return { objects, next: isLast ? undefined : elementIn(xml, 'NextContinuationToken') };
}

/** The body of CompleteMultipartUpload. */
export function completionOf(tags: readonly string[]): string {
  const parts = tags.map(
    (tag, index) => `<Part><PartNumber>${index + 1}</PartNumber><ETag>${escaped(tag)}</ETag></Part>`,
  );
  return `<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`;
}

function unescaped(text: string): string {
  return text.replace(/&(#x[0-9a-fA-F]+|#\d+|\w+);/g, (whole, name: string) => {
    if (name.startsWith('#x')) return String.fromCodePoint(Number.parseInt(name.slice(2), 16));
    if (name.startsWith('#')) return String.fromCodePoint(Number(name.slice(1)));
    return ENTITIES[name] ?? whole;
  });
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
