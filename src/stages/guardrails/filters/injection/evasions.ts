import { findPatterns, type InjectionMatch } from './find-patterns.ts';

/** Words whose letters are put in order before the patterns are tried again, by what scrambling leaves unchanged. */
const SCRAMBLED = new Map<string, string>(
  [
    ...[
      'ignore',
      'bypass',
      'override',
      'reveal',
      'delete',
      'system',
      'prompt',
      'instructions',
      'instruction',
    ],
    ...[
      'previous',
      'disregard',
      'forget',
      'restrictions',
      'guidelines',
      'safety',
      'developer',
      'prior',
      'above',
    ],
    ...['rules', 'everything', 'filters', 'secret', 'hidden', 'disable', 'unrestricted', 'jailbreak'],
  ].map((word) => [scrambleKey(word), word]),
);
/** Two of these, scrambled and close to each other, are no typing mistakes. */
const TELLING: ReadonlySet<string> = new Set([
  ...['ignore', 'bypass', 'override', 'reveal', 'delete', 'system', 'prompt', 'instructions', 'instruction'],
]);
const SCRAMBLED_LENGTHS = { least: 5, most: 12 };
/** Characters between two scrambled words that are close to each other. */
const CLOSE = 80;

/** Words that give away a text that was encoded to hide it. */
const HIDDEN_WORDS = /ignore|bypass|override|reveal|system|prompt/i;

const BASE64 = /[a-z\d+/_-]{16,65536}={0,2}(?:\r?\n[a-z\d+/_-]{16,76}={0,2}){0,64}/gi;
/** Digits in pairs, also apart or after `\x`, `0x` and `%`. */
const HEX = /(?:\\x|0x|%)?[\da-f]{2}(?:[\s,:;-]{0,2}(?:\\x|0x|%)?[\da-f]{2}){5,32768}/gi;
/** Single letters with a sign or blanks after each. */
const SPACED = /\b[a-z](?:[ \t._*|~/\\-]{1,3}[a-z]\b){4,4096}/gi;
/** Ends a word of spaced letters. */
const SPACED_GAP = /[ \t]{2,}/;

/** What spaced letters read as when nothing tells where words end. */
const RUN_TOGETHER = new RegExp(
  `(?:ignore|disregard|forget|bypass|override|neglect)
    (?:all|any|every|the|your|my|of|these|those|previous|prior|above|earlier|system|safety|content|former|preceding){1,5}
    (?:instructions?|rules|prompts?|directives|guidelines|filters?|restrictions|messages|commands)|
    (?:ignore|disregard|forget)(?:everything|all|theinstructions|allinstructions|theabove)(?:above|before)?|
    (?:reveal|show|print|output|repeat|display|leak|dump|tell|give)(?:me|us|the|your|full|entire|exact){0,4}
    (?:system|hidden|initial|secret|internal|developer)(?:prompt|instructions?|message)|
    (?:reveal|show|print|output|repeat|display|leak|dump)(?:me|us)?your(?:prompt|instructions|rules)|
    systemoverride|developermode|jailbreak|doanythingnow|bypasssafety|disablesafety|ignoresafety|
    unrestrictedmode|godmode|adminoverride`.replace(/\n\s*/g, ''),
  'i',
);

/**
 * Finds injections that are written so that the patterns do not see them: with scrambled letters, encoded, or with
 * every letter apart. All that begins in a range of a text.
 */
export function findEvasions(text: string, from: number, to: number): InjectionMatch[] {
  const start = wordStart(text, from);
  const window = text.slice(start, wordStart(text, Math.min(text.length, to)));
  return [...scrambledIn(window), ...encodedIn(window), ...spacedIn(window)].map((match) => ({
    ...match,
    start: start + match.start,
    end: start + match.end,
  }));
}

/** Moves a cut to the last blank before it, if there is one near, so that it divides no word. */
function wordStart(text: string, cut: number): number {
  if (cut <= 0 || cut >= text.length) return Math.max(0, Math.min(cut, text.length));
  const before = text.slice(Math.max(0, cut - 256), cut);
  const blank = before.search(/\s\S*$/);
  return blank < 0 ? cut : cut - before.length + blank;
}

/** Puts scrambled words in order, letter for letter, and tries the patterns on the result. */
function scrambledIn(text: string): InjectionMatch[] {
  const places: { readonly start: number; readonly end: number; readonly word: string }[] = [];
  let ordered = '';
  let copied = 0;
  for (let at = 0; at < text.length; ) {
    const start = nextLetter(text, at);
    const end = letterEnd(text, start);
    at = end;
    const length = end - start;
    if (length < SCRAMBLED_LENGTHS.least || length > SCRAMBLED_LENGTHS.most) continue;
    if (SCRAMBLED_ENDS[endsOf(text.charCodeAt(start), text.charCodeAt(end - 1))] === 0) continue;
    const written = text.slice(start, end).toLowerCase();
    const word = SCRAMBLED.get(scrambleKey(written));
    if (word === undefined || word === written) continue;
    ordered += text.slice(copied, start) + word;
    copied = end;
    places.push({ start, end, word });
  }
  if (places.length === 0) return [];
  ordered += text.slice(copied);
  const found: InjectionMatch[] = findPatterns(ordered, 0, ordered.length)
    .filter((match) => places.some(({ start, end }) => start < match.end && end > match.start))
    .map(({ start, end }) => ({ start, end, name: 'typoglycemia' }));
  const telling = places.filter(({ word }) => TELLING.has(word));
  for (let index = 1; index < telling.length; index++) {
    const [first, second] = [telling[index - 1], telling[index]];
    if (first === undefined || second === undefined || second.start - first.end > CLOSE) continue;
    found.push({ start: first.start, end: second.end, name: 'typoglycemia' });
  }
  return found;
}

/** First and last letter, length, and the letters between in order. */
function scrambleKey(word: string): string {
  return `${word[0]}${[...word.slice(1, -1)].sort().join('')}${word[word.length - 1]}`;
}

/** For each pair of first and last letters: 1 = a word of the list has them. */
const SCRAMBLED_ENDS = new Uint8Array(32 * 32);
for (const word of SCRAMBLED.values()) {
  SCRAMBLED_ENDS[endsOf(word.charCodeAt(0), word.charCodeAt(word.length - 1))] = 1;
}

function endsOf(first: number, last: number): number {
  return (first & 31) * 32 + (last & 31);
}

function isLetter(code: number): boolean {
  const letter = code | 0x20;
  return letter >= 0x61 && letter <= 0x7a;
}

function nextLetter(text: string, from: number): number {
  let at = from;
  while (at < text.length && !isLetter(text.charCodeAt(at))) at++;
  return at;
}

function letterEnd(text: string, from: number): number {
  let at = from;
  while (at < text.length && isLetter(text.charCodeAt(at))) at++;
  return at;
}

function encodedIn(text: string): InjectionMatch[] {
  const found: InjectionMatch[] = [];
  for (const { 0: run, index } of text.matchAll(BASE64)) {
    if (!mayBeBase64(run)) continue;
    const decoded = Buffer.from(run, 'base64').toString('latin1');
    if (!HIDDEN_WORDS.test(decoded) && !HIDDEN_WORDS.test(decoded.replaceAll('\0', ''))) continue;
    found.push({ start: index, end: index + run.length, name: 'base64_encoded_injection' });
  }
  for (const { 0: run, index } of text.matchAll(HEX)) {
    const digits = run.replace(/\\x|0x|[^\da-f]/gi, '');
    const decoded = Buffer.from(digits, 'hex').toString('latin1');
    if (!HIDDEN_WORDS.test(decoded)) continue;
    found.push({ start: index, end: index + run.length, name: 'hex_encoded_injection' });
  }
  return found;
}

/** Words, paths and names in code are no base64: they have no mixture of letters in both cases, or read as text. */
function mayBeBase64(run: string): boolean {
  return /[A-Z]/.test(run) && /[a-z\d]/.test(run);
}

function spacedIn(text: string): InjectionMatch[] {
  const found: InjectionMatch[] = [];
  for (const { 0: run, index } of text.matchAll(SPACED)) {
    const words = run
      .split(SPACED_GAP)
      .map((word) => word.replace(/[^a-z]/gi, ''))
      .join(' ');
    const isInjection =
      RUN_TOGETHER.test(words.replaceAll(' ', '')) || findPatterns(words, 0, words.length).length > 0;
    if (isInjection) found.push({ start: index, end: index + run.length, name: 'spaced_letters' });
  }
  return found;
}
