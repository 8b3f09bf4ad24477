import { lookUp } from '../collections/lookup.ts';
import { namedCharacter } from '../text/named-character.ts';

/** Text with layers of escapes taken off, and where each of its characters stands in the text as it was written. */
interface Reading {
  readonly text: string;
  readonly starts: Uint32Array;
  /** The place behind each character. */
  readonly ends: Uint32Array;
}

/** What is removed: the secrets in every form that no escape brings about, and what stands where they were. */
export interface SecretRemoval {
  readonly forms: readonly string[];
  readonly replacement: string;
}

/** Layers of escapes that are looked through: a text inside JSON inside JSON, and so on. */
const MAX_ENCODING_LAYERS = 4;

/**
 * Only forms of this length are looked for across blanks and invisible characters: shorter ones come about by chance.
 */
const MIN_SPLIT_CHARACTERS = 12;

/** Escapes of JSON and JavaScript, of URLs and of markup. */
const ESCAPES =
  /\\(?:u([0-9a-f]{4})|u\{([0-9a-f]{1,6})\}|x([0-9a-f]{2})|([\s\S]))|%(?:u([0-9a-f]{4})|([0-7][0-9a-f]))|&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]{2,6}));?/gi;

const LETTER_ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '\b', f: '\f' };

const UNSEEN = /[\s\p{Cc}\p{Cf}]+/gu;

/**
 * A text without secrets, however they are escaped in it and whatever unseen characters stand between theirs. Takes
 * time in proportion to the text.
 */
export function withoutKnownSecrets(text: string, { forms, replacement }: SecretRemoval): string {
  if (forms.length === 0) return text;
  const found: [start: number, end: number][] = [];
  let reading = asWritten(text);
  addMatches(reading, forms, found);
  for (let layer = 0; layer < MAX_ENCODING_LAYERS; layer++) {
    const plainer = rewrite(reading, ESCAPES, unescaped);
    if (plainer === undefined) break;
    reading = plainer;
    addMatches(reading, forms, found);
  }
  const joined = rewrite(reading, UNSEEN, () => '');
  if (joined !== undefined) {
    addMatches(
      joined,
      forms.filter(({ length }) => length >= MIN_SPLIT_CHARACTERS),
      found,
    );
  }
  return replaceRanges(text, found, replacement);
}

function asWritten(text: string): Reading {
  const starts = new Uint32Array(text.length).map((_, index) => index);
  return { text, starts, ends: starts.map((start) => start + 1) };
}

/** The character that an escape stands for; undefined when it is none. */
function unescaped(match: RegExpExecArray): string | undefined {
  const [, unicode, point, byte, letter, percentUnicode, percent, decimal, hexadecimal, entity] = match;
  if (letter !== undefined) return lookUp(LETTER_ESCAPES, letter) ?? letter;
  if (entity !== undefined) return namedCharacter(entity.toLowerCase());
  const hex = unicode ?? point ?? byte ?? percentUnicode ?? percent ?? hexadecimal;
  const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
  return code <= 0x10_ff_ff ? String.fromCodePoint(code) : undefined;
}

/** A reading with its matches replaced; undefined when nothing was. */
function rewrite(
  { text, starts, ends }: Reading,
  pattern: RegExp,
  replace: (match: RegExpExecArray) => string | undefined,
): Reading | undefined {
  const pieces: string[] = [];
  const newStarts = new Uint32Array(text.length);
  const newEnds = new Uint32Array(text.length);
  let length = 0;
  let copied = 0;
  const copyTo = (end: number) => {
    pieces.push(text.slice(copied, end));
    newStarts.set(starts.subarray(copied, end), length);
    newEnds.set(ends.subarray(copied, end), length);
    length += end - copied;
  };
  for (const match of text.matchAll(pattern)) {
    const replacement = replace(match);
    if (replacement === undefined) continue;
    copyTo(match.index);
    copied = match.index + match[0].length;
    pieces.push(replacement);
    // No replacement is longer than what it replaces.
    newStarts.fill(starts[match.index] ?? 0, length, length + replacement.length);
    newEnds.fill(ends[copied - 1] ?? 0, length, length + replacement.length);
    length += replacement.length;
  }
  if (copied === 0) return undefined;
  copyTo(text.length);
  return {
    text: pieces.join(''),
    starts: newStarts.subarray(0, length),
    ends: newEnds.subarray(0, length),
  };
}

function addMatches(
  { text, starts, ends }: Reading,
  forms: readonly string[],
  found: [start: number, end: number][],
): void {
  for (const form of forms) {
    for (let at = text.indexOf(form); at !== -1; at = text.indexOf(form, at + form.length)) {
      found.push([starts[at] ?? 0, ends[at + form.length - 1] ?? 0]);
    }
  }
}

function replaceRanges(text: string, ranges: [start: number, end: number][], replacement: string): string {
  const pieces: string[] = [];
  let end = 0;
  for (const [from, to] of ranges.sort(([a], [b]) => a - b)) {
    if (from >= end) pieces.push(text.slice(end, from), replacement);
    end = Math.max(end, to);
  }
  pieces.push(text.slice(end));
  return pieces.join('');
}
