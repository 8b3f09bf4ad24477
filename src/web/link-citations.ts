import type { Event, EventBatch } from '../ir/events.ts';
import type { Annotation } from '../ir/items.ts';
import { boundedText } from '../kit/json/bounded-json.ts';
import { urlOf } from '../kit/net/url-of.ts';
import type { FoundPage } from './engines/engine.ts';
import { MarkdownLinks } from './markdown-links.ts';

const CITED_CHARACTERS = 300;

/** Citations of one answer: a model that repeats a link for ever adds no more. */
const MAX_CITATIONS = 1000;

/**
 * Adds a citation behind each markdown link of an answer whose address is one of the results. Text passes unchanged
 * and at once: links are followed across pieces by `MarkdownLinks`.
 */
export class LinkCitations {
  readonly #pages = new Map<string, FoundPage>();
  /** Scanners of the text parts that are open, by item and part. */
  readonly #open = new Map<string, MarkdownLinks>();
  #count = 0;

  constructor(pages: readonly FoundPage[]) {
    this.add(pages);
  }

  add(pages: readonly FoundPage[]): void {
    for (const page of pages) this.#pages.set(keyOf(page.url) ?? page.url, page);
  }

  annotate(batch: EventBatch): EventBatch {
    if (this.#pages.size === 0 || this.#count >= MAX_CITATIONS) return batch;
    if (!batch.some((event) => event.type === 'text-delta' && event.kind === 'text')) return batch;
    return batch.flatMap((event) => this.#annotated(event));
  }

  #annotated(event: Event): readonly Event[] {
    if (event.type !== 'text-delta' || event.kind !== 'text') return [event];
    const { item, part } = event;
    const key = `${item} ${part}`;
    const links = this.#open.get(key) ?? new MarkdownLinks();
    this.#open.set(key, links);
    const citations = links.push(event.text).flatMap(({ address, start, end }): Event[] => {
      const page = this.#pages.get(keyOf(address) ?? address);
      if (page === undefined || this.#count >= MAX_CITATIONS) return [];
      this.#count++;
      return [{ type: 'annotation', item, part, annotation: citationOf(page, start, end) }];
    });
    return citations.length === 0 ? [event] : [event, ...citations];
  }
}

function citationOf({ url, title, content }: FoundPage, startIndex: number, endIndex: number): Annotation {
  const cited = boundedText(content, CITED_CHARACTERS);
  return {
    type: 'url-citation',
    url,
    title: title === '' ? new URL(url).hostname : title,
    startIndex,
    endIndex,
    ...(cited !== '' && { content: cited }),
  };
}

/** A key that is the same for all addresses of a page; undefined if the text is no address. */
function keyOf(address: string): string | undefined {
  const url = urlOf(address);
  if (url === undefined) return undefined;
  const { host, pathname, search } = url;
  return `${host.replace(/^www\./, '')}${pathname.replace(/\/+$/, '')}${search}`;
}
