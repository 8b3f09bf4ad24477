import type { JsonObject } from '../../../kit/json/json.ts';
import { dataUrlOf, isBase64, isMark, type Vocabulary, vocabularyOf } from '../texts/protocol-marks.ts';
import { NAME_MEMBERS, OWN_MEMBERS, OWN_SENTENCES, OWN_WORDS, UNNAMED_FILE } from './own-words.ts';

/** Characters of text in a body, and how many of them were scanned. */
export interface SentCharacters {
  readonly sent: number;
  readonly scanned: number;
}

/** Characters by which the beginning of a scanned text is found inside of a longer one. */
const PREFIX_CHARACTERS = 12;

/** Members that hold the bytes of files. */
const FILE_MEMBERS: ReadonlySet<string> = new Set(['data', 'bytes']);

/**
 * Compares a rendered body with the texts that were scanned, knowing nothing of how they got there: every string of
 * the body must be one of them, or be made of them, unless the gateway itself wrote it.
 */
export function sentCharacters(body: JsonObject, scannedTexts: Iterable<string>): SentCharacters {
  return countIn(body, '', new ScannedTexts(scannedTexts));
}

function countIn(body: unknown, member: string, scanned: ScannedTexts): SentCharacters {
  const count = { sent: 0, scanned: 0 };
  const look = (value: unknown, member: string, vocabulary: Vocabulary): void => {
    if (typeof value === 'string') {
      if (isMark(member, value, vocabulary) || OWN_MEMBERS.has(member) || OWN_WORDS.has(value)) return;
      if (FILE_MEMBERS.has(member) ? isBase64(value) : dataUrlOf(value) !== undefined) return;
      count.sent += value.length;
      count.scanned += NAME_MEMBERS.has(member) ? scanned.coversName(value) : scanned.covers(value);
    } else if (Array.isArray(value)) {
      for (const element of value) look(element, member, vocabulary);
    } else if (typeof value === 'object' && value !== null) {
      const outer = { member, vocabulary };
      for (const [name, inner] of Object.entries(value)) {
        const inside = vocabularyOf(name, outer);
        // Upstreams have names that no format of callers has.
        look(inner, name, inside === 'unlisted' ? 'protocol' : inside);
      }
    }
  };
  look(body, member, 'protocol');
  return count;
}

const MAX_NAME_CHARACTERS = 1000;

/** A number at the end of a name that makes it unique. */
const COUNTED = /(?: \(\d+\)|_\d+)$/;

function lettersOf(name: string): string {
  return name.replace(/[^A-Za-z0-9]/g, '');
}

const BLANK = /\s/;

/** Whether a joined text may end here. */
function isEnd(text: string, index: number): boolean {
  return index >= text.length || BLANK.test(text[index] as string) || BLANK.test(text[index - 1] as string);
}

class ScannedTexts {
  readonly #whole: Set<string>;
  /** The letters of texts that may be names. */
  #names: string[] | undefined;
  #byPrefix: Map<string, string[]> | undefined;

  constructor(texts: Iterable<string>) {
    this.#whole = new Set(texts);
  }

  covers(text: string): number {
    if (this.#whole.has(text)) return text.length;
    return this.#coversJson(text) ?? this.#coversSentence(text) ?? this.#coversJoined(text);
  }

  /** Scanned characters of a name: all of them if it was made from names that were scanned. */
  coversName(name: string): number {
    const covered = this.covers(name);
    if (covered === name.length || UNNAMED_FILE.test(name)) return name.length;
    this.#names ??= [...this.#whole].filter(({ length }) => length <= MAX_NAME_CHARACTERS).map(lettersOf);
    const parts = name.replace(COUNTED, '').split('__').map(lettersOf);
    const isMade = parts.every((part) => part !== '' && this.#names?.some((known) => known.includes(part)));
    return isMade ? name.length : covered;
  }

  /**
   * Scanned characters of JSON text: all but the texts in it that were not scanned. Undefined = it is no
   * JSON.
   */
  #coversJson(text: string): number | undefined {
    if (!text.startsWith('{') && !text.startsWith('[')) return undefined;
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      return undefined;
    }
    const { sent, scanned } = countIn(value, '', this);
    return Math.max(0, text.length - (sent - scanned));
  }

  /**
   * Scanned characters of a sentence of ours around texts of the caller: all but what of these texts was not
   * scanned.
   */
  #coversSentence(text: string): number | undefined {
    for (const sentence of OWN_SENTENCES) {
      const match = sentence.exec(text);
      if (match === null) continue;
      const given = match.slice(1).filter((part) => part !== undefined);
      const missed = (part: string) =>
        part.length - (part === match.groups?.name ? this.coversName(part) : this.covers(part));
      return given.reduce((covered, part) => covered - missed(part), text.length);
    }
    return undefined;
  }

  /**
   * Scanned characters of a text that is joined from several: those that stand between blanks, and the blanks
   * beside them.
   */
  #coversJoined(text: string): number {
    if (text.trim() === '') return text.length;
    let covered = 0;
    let isBoundary = true;
    let isBesidePart = false;
    /** Blanks that count if a scanned text follows them. */
    let blanks = 0;
    for (let index = 0; index < text.length; ) {
      const part = isBoundary ? this.#longestAt(text, index) : undefined;
      if (part !== undefined) {
        covered += blanks + part.length;
        index += part.length;
        blanks = 0;
        isBesidePart = true;
        continue;
      }
      isBoundary = BLANK.test(text[index] as string);
      if (!isBoundary) {
        blanks = 0;
        isBesidePart = false;
      } else if (isBesidePart) covered++;
      else blanks++;
      index++;
    }
    return covered;
  }

  #longestAt(text: string, index: number): string | undefined {
    this.#byPrefix ??= byPrefix(this.#whole);
    for (let length = PREFIX_CHARACTERS; length > 0; length--) {
      const texts = this.#byPrefix.get(text.slice(index, index + length));
      const found = texts?.find((each) => text.startsWith(each, index) && isEnd(text, index + each.length));
      if (found !== undefined) return found;
    }
    return undefined;
  }
}

/** The longest first. Short texts are found by all of their characters. */
function byPrefix(texts: Iterable<string>): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const text of texts) {
    if (text === '') continue;
    const prefix = text.slice(0, PREFIX_CHARACTERS);
    const same = found.get(prefix);
    if (same === undefined) found.set(prefix, [text]);
    else same.push(text);
  }
  for (const same of found.values()) same.sort((one, other) => other.length - one.length);
  return found;
}
