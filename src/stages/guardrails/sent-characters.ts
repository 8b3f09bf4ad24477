import type { JsonObject } from '../../kit/json/json.ts';
import { dataUrlOf, isMark } from './texts/protocol-marks.ts';

/** Characters of text in a body, and how many of them were scanned. */
export interface SentCharacters {
  readonly sent: number;
  readonly scanned: number;
}

/** Characters by which the beginning of a scanned text is found inside of a longer one. */
const PREFIX_CHARACTERS = 12;

/**
 * Compares a rendered body with the texts that were scanned, knowing nothing of how they got there: every string of
 * the body must be one of them, or be joined from them, unless the gateway itself wrote it.
 */
export function sentCharacters(body: JsonObject, scannedTexts: Iterable<string>): SentCharacters {
  const scanned = new ScannedTexts(scannedTexts);
  const count = { sent: 0, scanned: 0 };
  const look = (value: unknown, member: string): void => {
    if (typeof value === 'string') {
      if (isMark(member, value) || OWN_MEMBERS.has(member) || OWN_WORDS.has(value)) return;
      if (dataUrlOf(value) !== undefined) return;
      count.sent += value.length;
      count.scanned += scanned.covers(value);
    } else if (Array.isArray(value)) {
      for (const element of value) look(element, member);
    } else if (typeof value === 'object' && value !== null) {
      for (const [name, inner] of Object.entries(value)) look(inner, name);
    }
  };
  look(body, '');
  return count;
}

/** Members that the gateway fills in itself: hashes of end users, versions, betas. */
const OWN_MEMBERS: ReadonlySet<string> = new Set([
  'user',
  'user_id',
  'safety_identifier',
  'anthropic_version',
  'anthropic_beta',
  'task_type',
  'taskType',
  'input_type',
  'encoding_format',
  'embedding_types',
]);

/** What dialects write themselves: words of protocols, and texts that stand for something missing. */
const OWN_WORDS: ReadonlySet<string> = new Set([
  ...`auto none required any tool function custom text json_object json_schema ephemeral enabled disabled adaptive
  default flex priority standard fast standard_only minimal low medium high xhigh max detailed concise summarized
  omitted user assistant model object string number integer boolean array null float base64 end AUTO ANY NONE VALIDATED
  TEXT IMAGE AUDIO MINIMAL LOW MEDIUM HIGH application/json application/pdf`.split(/\s+/),
  'See the document.',
  'No result was given.',
  'The tool failed.',
  'No longer available: do not call it.',
]);

const BLANK = /\s/;

/** Whether a joined text may end here. */
function isEnd(text: string, index: number): boolean {
  return index >= text.length || BLANK.test(text[index] as string) || BLANK.test(text[index - 1] as string);
}

class ScannedTexts {
  readonly #whole: Set<string>;
  #byPrefix: Map<string, string[]> | undefined;

  constructor(texts: Iterable<string>) {
    this.#whole = new Set(texts);
  }

  /** How many characters of a text were scanned. */
  covers(text: string): number {
    return this.#whole.has(text) ? text.length : this.#coversJoined(text);
  }

  /** Of a text that is joined from several: those that stand between blanks, and the blanks. */
  #coversJoined(text: string): number {
    let covered = 0;
    let isBoundary = true;
    for (let index = 0; index < text.length; ) {
      const part = isBoundary ? this.#longestAt(text, index) : undefined;
      if (part !== undefined) {
        covered += part.length;
        index += part.length;
        continue;
      }
      isBoundary = BLANK.test(text[index] as string);
      if (isBoundary) covered++;
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
