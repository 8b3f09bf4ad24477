import type { Sliced } from '../../kit/loop/turns.ts';
import { decodeReferences } from './plain-text.ts';
import { TextGatherer } from './text-gatherer.ts';

/** The text of a page that a person would read. */
export interface ReadablePage {
  /** Empty if the page has none. */
  readonly title: string;
  readonly text: string;
}

/** The readable text of a page, up to about so many characters. Read in slices. */
export function readablePage(html: string, maxCharacters: number): Sliced<ReadablePage> {
  return new PageReader(html, maxCharacters).read();
}

/** Elements whose content is no text. */
const RAW_ELEMENTS: ReadonlySet<string> = new Set(
  'script style template noscript svg math iframe object canvas textarea select'.split(' '),
);

/** Elements beside the content of a page: left out, unless hardly anything else is there. */
const SIDE_ELEMENTS: ReadonlySet<string> = new Set(
  'nav footer aside header form button dialog menu'.split(' '),
);

/** Elements that hold the content of a page. */
const MAIN_ELEMENTS: ReadonlySet<string> = new Set(['main', 'article']);

/** Empty lines and marks before the text of an element; elements that are not here stand within a line. */
const BREAKS: ReadonlyMap<string, { readonly newlines: number; readonly mark: string }> = new Map([
  ...'p table ul ol dl blockquote pre figure section article main header footer nav aside hr'
    .split(' ')
    .map((name) => [name, { newlines: 2, mark: '' }] as const),
  ...'div tr br dt dd figcaption caption option form address details summary'
    .split(' ')
    .map((name) => [name, { newlines: 1, mark: '' }] as const),
  ...[1, 2, 3, 4, 5, 6].map(
    (level) => [`h${level}`, { newlines: 2, mark: `${'#'.repeat(level)} ` }] as const,
  ),
  ['li', { newlines: 1, mark: '- ' }],
  ['td', { newlines: 0, mark: '\t' }],
  ['th', { newlines: 0, mark: '\t' }],
]);

/** Characters of a page that are read in a slice, at about a hundred nanoseconds each. */
const SLICE_CHARACTERS = 16_384;

/** Characters of text that are written at once. */
const PIECE_CHARACTERS = 4096;

/** Characters of the longest reference, such as `&#x1F642;`. */
const REFERENCE_CHARACTERS = 33;

const MAX_TITLE_CHARACTERS = 4096;

/** Quoted values of a tag; behind more of them it ends with the next `>`. */
const MAX_QUOTED_VALUES = 1000;

/** Main elements with less text are not taken for the content of the page. */
const MIN_MAIN_CHARACTERS = 200;

const TAG_NAME = /<(\/?)([a-z][a-z0-9:-]{0,63})/iy;

/** Characters behind a `<` that begin markup which is no element. */
const DECLARATIONS: ReadonlySet<string> = new Set('!?/');

/** What stands in a tag outside of quotes. A quote begins a value only behind an equals sign. */
const UNQUOTED = /(?:[^>"']|(?<!=)["'])*/y;

/**
 * Reads HTML as far as text needs it: tags, comments, raw elements, character references. Each character is visited a
 * bounded number of times, whatever the page.
 */
class PageReader {
  readonly #html: string;
  #at = 0;
  /** Where the next `<` stands, unless it was read already; the end of the page if there is none. */
  #nextMarkup = -1;
  readonly #main: TextGatherer;
  readonly #body: TextGatherer;
  readonly #all: TextGatherer;
  #title = '';
  #sideDepth = 0;
  #mainDepth = 0;
  #preDepth = 0;
  /** Ends of comments and raw elements that the page does not have: they are not searched for again. */
  readonly #missing = new Set<string>();

  constructor(html: string, maxCharacters: number) {
    this.#html = html;
    this.#main = new TextGatherer(maxCharacters);
    this.#body = new TextGatherer(maxCharacters);
    this.#all = new TextGatherer(maxCharacters);
  }

  *read(): Sliced<ReadablePage> {
    const html = this.#html;
    let sliceEnd = SLICE_CHARACTERS;
    while (this.#at < html.length && !this.#main.isFull) {
      if (this.#at >= sliceEnd) {
        yield;
        sliceEnd = this.#at + SLICE_CHARACTERS;
      }
      if (this.#nextMarkup < this.#at) this.#nextMarkup = this.#indexOf('<', this.#at);
      if (this.#nextMarkup === this.#at) this.#readMarkup();
      else this.#readText(this.#nextMarkup);
    }
    return { title: oneLine(this.#title), text: this.#chosen() };
  }

  #readText(end: number): void {
    const at = this.#at;
    this.#at = end;
    if (this.#isFull) return;
    if (end - at > PIECE_CHARACTERS) {
      const cut = at + PIECE_CHARACTERS;
      // A reference is not cut in half.
      const last = cut - REFERENCE_CHARACTERS;
      const reference = this.#html.slice(last, cut).lastIndexOf('&');
      this.#at = reference === -1 ? cut : last + reference;
    }
    this.#write(decodeReferences(this.#html.slice(at, this.#at)));
  }

  #readMarkup(): void {
    const html = this.#html;
    if (html.startsWith('<!--', this.#at)) {
      this.#at = this.#after('-->', this.#at + 4);
      return;
    }
    TAG_NAME.lastIndex = this.#at;
    const tag = TAG_NAME.exec(html);
    if (tag === null) {
      const isDeclaration = DECLARATIONS.has(html.charAt(this.#at + 1));
      if (isDeclaration) this.#at = this.#after('>', this.#at);
      else {
        if (!this.#isFull) this.#write('<');
        this.#at++;
      }
      return;
    }
    const [, slash, name = ''] = tag;
    this.#at = this.#endOfTag(TAG_NAME.lastIndex);
    this.#readTag(name.toLowerCase(), slash === '/');
  }

  #readTag(name: string, isEnd: boolean): void {
    if (name === 'title' && !isEnd && this.#title === '') {
      const end = this.#startOfEnd('title');
      this.#title = decodeReferences(
        this.#html.slice(this.#at, Math.min(end, this.#at + MAX_TITLE_CHARACTERS)),
      );
      this.#at = end;
      return;
    }
    if (RAW_ELEMENTS.has(name)) {
      if (!isEnd) this.#at = this.#startOfEnd(name);
      return;
    }
    const step = isEnd ? -1 : 1;
    if (SIDE_ELEMENTS.has(name)) this.#sideDepth = Math.max(0, this.#sideDepth + step);
    if (MAIN_ELEMENTS.has(name)) this.#mainDepth = Math.max(0, this.#mainDepth + step);
    if (name === 'pre') this.#preDepth = Math.max(0, this.#preDepth + step);
    const before = BREAKS.get(name);
    if (before === undefined) return;
    // An end breaks the line, and begins no list item or heading.
    const mark = isEnd ? '' : before.mark;
    for (const gatherer of this.#gatherers()) gatherer.break(before.newlines, mark);
  }

  #write(text: string): void {
    for (const gatherer of this.#gatherers()) gatherer.write(text, this.#preDepth > 0);
  }

  /** No text is wanted where the reader is. */
  get #isFull(): boolean {
    return this.#all.isFull && (this.#sideDepth > 0 || this.#body.isFull);
  }

  #gatherers(): readonly TextGatherer[] {
    if (this.#sideDepth > 0) return [this.#all];
    return this.#mainDepth > 0 ? [this.#all, this.#body, this.#main] : [this.#all, this.#body];
  }

  /** The content of the page if it is marked as such, else everything beside its sides, else everything. */
  #chosen(): string {
    const [main, body, all] = [this.#main.text(), this.#body.text(), this.#all.text()];
    if (main.length >= MIN_MAIN_CHARACTERS) return main;
    return body.length >= Math.min(MIN_MAIN_CHARACTERS, all.length) ? body : all;
  }

  #indexOf(mark: string, from: number): number {
    const found = this.#html.indexOf(mark, from);
    return found === -1 ? this.#html.length : found;
  }

  /** The place behind a mark, or the end of the page. */
  #after(mark: string, from: number): number {
    const found = this.#missing.has(mark) ? -1 : this.#html.indexOf(mark, from);
    if (found !== -1) return found + mark.length;
    this.#missing.add(mark);
    return this.#html.length;
  }

  /** Where the end tag of a raw element begins, or the end of the page. */
  #startOfEnd(name: string): number {
    const { length } = this.#html;
    if (this.#missing.has(name)) return length;
    const end = new RegExp(`</${name}`, 'gi');
    end.lastIndex = this.#at;
    const found = end.exec(this.#html);
    if (found !== null) return found.index;
    this.#missing.add(name);
    return length;
  }

  /** The place behind a tag: a `>` in quotes does not end it. */
  #endOfTag(from: number): number {
    const html = this.#html;
    let at = from;
    for (let values = 0; values < MAX_QUOTED_VALUES; values++) {
      UNQUOTED.lastIndex = at;
      UNQUOTED.test(html);
      const quote = UNQUOTED.lastIndex;
      if (html.charAt(quote) === '>') return quote + 1;
      const end = quote >= html.length ? -1 : html.indexOf(html.charAt(quote), quote + 1);
      if (end === -1) return html.length;
      at = end + 1;
    }
    return this.#after('>', at);
  }
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}
