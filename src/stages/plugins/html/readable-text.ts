import { runInTurns, type Sliced } from '../../../kit/loop/turns.ts';
import { decodeReferences } from './plain-text.ts';

/** The text of a page that a person would read. */
export interface ReadablePage {
  /** Empty if the page has none. */
  readonly title: string;
  readonly text: string;
}

/** The readable text of a page. A long one is read in slices, so that the gateway stays responsive. */
export function readablePage(html: string): Promise<ReadablePage> {
  return runInTurns(new PageReader(html).read());
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

/** Characters of a page that are read in a slice, at about ten nanoseconds each. */
const SLICE_CHARACTERS = 65_536;

/** Main elements with less text are not taken for the content of the page. */
const MIN_MAIN_CHARACTERS = 200;

const TAG_NAME = /<(\/?)([a-z][a-z0-9:-]*)/iy;

/**
 * Reads HTML as far as text needs it: tags, comments, raw elements, character references. Each character is visited a
 * bounded number of times, whatever the page.
 */
class PageReader {
  readonly #html: string;
  #at = 0;
  readonly #main = new TextGatherer();
  readonly #body = new TextGatherer();
  readonly #all = new TextGatherer();
  #title = '';
  #sideDepth = 0;
  #mainDepth = 0;
  #preDepth = 0;
  /** Ends of comments and raw elements that the page does not have: they are not searched for again. */
  readonly #missing = new Set<string>();

  constructor(html: string) {
    this.#html = html;
  }

  *read(): Sliced<ReadablePage> {
    const html = this.#html;
    let sliceEnd = SLICE_CHARACTERS;
    while (this.#at < html.length) {
      if (this.#at >= sliceEnd) {
        yield;
        sliceEnd = this.#at + SLICE_CHARACTERS;
      }
      const open = html.indexOf('<', this.#at);
      const end = open === -1 ? html.length : open;
      if (end > this.#at) this.#write(decodeReferences(html.slice(this.#at, end)));
      this.#at = end;
      if (open !== -1) this.#readMarkup();
    }
    return { title: oneLine(this.#title), text: this.#chosen() };
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
      const isDeclaration = /[!?/]/.test(html.charAt(this.#at + 1));
      if (isDeclaration) this.#at = this.#after('>', this.#at);
      else {
        this.#write('<');
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
      this.#title = decodeReferences(this.#html.slice(this.#at, end));
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
    let quote = '';
    for (let at = from; at < html.length; at++) {
      const character = html.charAt(at);
      if (quote !== '') {
        if (character === quote) quote = '';
      } else if (character === '>') return at + 1;
      else if ((character === '"' || character === "'") && html.charAt(at - 1) === '=') quote = character;
    }
    return html.length;
  }
}

/** Text in lines, with runs of white space as one space, and no more breaks than text between them. */
class TextGatherer {
  readonly #pieces: string[] = [];
  /** Separator before the next text: empty lines, then the mark of a list item, heading or cell. */
  #newlines = 0;
  #mark = '';

  write(text: string, isPreformatted: boolean): void {
    const isBegin = this.#newlines > 0 || this.#mark !== '' || this.#pieces.length === 0;
    const spaced = isPreformatted ? text : text.replace(/\s+/g, ' ');
    const kept = isBegin && !isPreformatted ? spaced.trimStart() : spaced;
    if (kept === '') return;
    if (isBegin) this.#begin();
    const last = this.#pieces.at(-1) ?? '';
    this.#pieces.push(last.endsWith(' ') && kept.startsWith(' ') ? kept.slice(1) : kept);
  }

  break(newlines: number, mark: string): void {
    this.#newlines = Math.max(this.#newlines, newlines);
    // The mark of an element that had no text gives way to the next one, or to the end of its line.
    if (mark !== '' || (newlines > 0 && this.#mark === '\t')) this.#mark = mark;
  }

  #begin(): void {
    const last = this.#pieces.pop();
    if (last !== undefined) this.#pieces.push(last.trimEnd(), '\n'.repeat(this.#newlines));
    this.#pieces.push(this.#mark);
    this.#newlines = 0;
    this.#mark = '';
  }

  text(): string {
    return this.#pieces.join('').trim();
  }
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}
