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
const IN_ORDER: ReadonlySet<string> = new Set(SCRAMBLED.values());
/** Two of these, scrambled and within `MAX_GAP_CHARACTERS`, are no typing mistakes. */
const SUSPICIOUS_WORDS: ReadonlySet<string> = new Set([
  ...['ignore', 'bypass', 'override', 'reveal', 'delete', 'system', 'prompt', 'instructions', 'instruction'],
]);
/** Words that begin, end and are as long as one of the list. */
const SCRAMBLED_WORDS = new RegExp(
  `\\b(?:${[...IN_ORDER].map((word) => `${word[0]}[a-z]{${word.length - 2}}${word.at(-1)}`).join('|')})\\b`,
  'gi',
);
/** Characters between two scrambled words that count together. */
const MAX_GAP_CHARACTERS = 80;

/** Words that give away a text that was encoded to hide it. */
const HIDDEN_WORDS = /ignore|bypass|override|reveal|system|prompt/i;

/** Length of a first line of base64 from which on it is decoded. */
const MIN_BASE64_CHARACTERS = 16;
const BASE64 = /[A-Za-z\d+/_-]{16,65536}={0,2}(?:\r?\n[A-Za-z\d+/_-]{16,76}={0,2}){0,64}/y;
const BASE64_ALPHABET = Uint8Array.from({ length: 128 }, (_, code) =>
  /[A-Za-z\d+/_-]/.test(String.fromCharCode(code)) ? 1 : 0,
);
/** ASCII characters as pairs of digits, also apart or after `\x`, `0x` and `%`. The first of a pair is 0 to 7. */
const HEX = /(?:\\x|0x|%)?[0-7][\da-f](?:[\s,:;-]{0,2}(?:\\x|0x|%)?[0-7][\da-f]){5,32768}/gi;
/** Single letters with a sign or blanks after each. */
const SPACED = /(?<![a-z])[a-z](?:[ \t._*|~/\\-]{1,3}[a-z](?![a-z])){4,4096}/gi;
/** Ends a word of spaced letters. */
const SPACED_GAP = /[ \t]{2,}/;

/** Phrases of spaced letters without gaps between words. */
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
  for (const { 0: written, index: start } of text.matchAll(SCRAMBLED_WORDS)) {
    const lower = written.toLowerCase();
    const word = IN_ORDER.has(lower) ? undefined : scrambledWord(lower);
    if (word === undefined) continue;
    const end = start + written.length;
    ordered += text.slice(copied, start) + word;
    copied = end;
    places.push({ start, end, word });
  }
  if (places.length === 0) return [];
  ordered += text.slice(copied);
  const found: InjectionMatch[] = findPatterns(ordered, 0, ordered.length)
    .filter(({ start, end }) => {
      const next = places[firstEndingAfter(places, start)];
      return next !== undefined && next.start < end;
    })
    .map(({ start, end }) => ({ start, end, name: 'typoglycemia' }));
  const suspicious = places.filter(({ word }) => SUSPICIOUS_WORDS.has(word));
  for (let index = 1; index < suspicious.length; index++) {
    const [first, second] = [suspicious[index - 1], suspicious[index]];
    if (first === undefined || second === undefined) continue;
    if (second.start - first.end > MAX_GAP_CHARACTERS) continue;
    found.push({ start: first.start, end: second.end, name: 'typoglycemia' });
  }
  return found;
}

/** What words that were met are scrambled from, if anything; cleared when there are too many. */
const scrambledWords = new Map<string, string | undefined>();
const MAX_SCRAMBLED_WORDS = 4096;

function scrambledWord(written: string): string | undefined {
  const known = scrambledWords.get(written);
  if (known !== undefined || scrambledWords.has(written)) return known;
  if (scrambledWords.size >= MAX_SCRAMBLED_WORDS) scrambledWords.clear();
  const word = SCRAMBLED.get(scrambleKey(written));
  scrambledWords.set(written, word);
  return word;
}

/** Index of the first of some places, in order, that ends after a position. */
function firstEndingAfter(places: readonly { readonly end: number }[], position: number): number {
  let low = 0;
  let high = places.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((places[middle]?.end ?? 0) > position) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** First and last letter, length, and the letters between in order. */
function scrambleKey(word: string): string {
  return `${word[0]}${[...word.slice(1, -1)].sort().join('')}${word[word.length - 1]}`;
}

function encodedIn(text: string): InjectionMatch[] {
  const found: InjectionMatch[] = [];
  for (const { run, index } of base64Runs(text)) {
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

/** Looks at every sixteenth character only: a run that is long enough contains one of them. */
function* base64Runs(text: string): Generator<{ readonly run: string; readonly index: number }> {
  for (let at = MIN_BASE64_CHARACTERS - 1, last = 0; at < text.length; at += MIN_BASE64_CHARACTERS) {
    let start = at + 1;
    while (start > last && BASE64_ALPHABET[text.charCodeAt(start - 1)] === 1) start--;
    if (start > at) continue;
    BASE64.lastIndex = start;
    const run = BASE64.exec(text)?.[0];
    if (run === undefined) continue;
    yield { run, index: start };
    last = start + run.length;
    at = Math.max(at, last - 1);
  }
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
