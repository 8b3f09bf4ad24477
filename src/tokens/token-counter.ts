/** Counts the tokens of a text in the public encoding `o200k_base`. Names of special tokens are plain text. */
export type TokenCounter = (text: string) => number;

/** The tokens of the encoding, by their bytes. */
export interface TokenTable {
  /** The rank of bytes `from` to `to`; `noRank` if they are no token. */
  rankOf(within: Uint8Array, from: number, to: number): number;
  /** Above all ranks. */
  readonly noRank: number;
}

/**
 * The table of tokens, from lines of a token in base64 and its rank, by rank. It is kept as bytes: a map of strings
 * takes three times the memory, loads five times slower, and counts half as fast.
 */
export function openTokenTable(table: Uint8Array): TokenTable {
  /** Size of the hash table: a power of two above twice the number of tokens. */
  const SLOTS = 2 ** 19;
  const LINE_FEED = 0x0a;
  const SPACE = 0x20;
  const PADDING = 0x3d;

  const noRank = 2 ** 31 - 1;
  /** Start of each token in `bytes`, by rank. */
  const starts = new Uint32Array(linesOf(table) + 1);
  const bytes = readTokens(table);
  /** Hash table with linear probing: rank + 1, or 0 for a free slot. */
  const slots = new Int32Array(SLOTS);
  for (let rank = 0; rank < starts.length - 1; rank++) keep(rank);
  return { rankOf, noRank };

  function linesOf(lines: Uint8Array): number {
    let count = 0;
    for (const byte of lines) if (byte === LINE_FEED) count++;
    return count;
  }

  function readTokens(lines: Uint8Array): Uint8Array {
    const values = new Uint8Array(128);
    const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
    for (let value = 0; value < digits.length; value++) values[digits.charCodeAt(value)] = value;
    const read = new Uint8Array(lines.length);
    let length = 0;
    let at = 0;
    for (let rank = 1; rank < starts.length; rank++) {
      let held = 0;
      let bits = 0;
      for (let byte = lines[at] as number; byte !== SPACE; byte = lines[++at] as number) {
        if (byte === PADDING) continue;
        held = ((held << 6) | (values[byte] as number)) & 0xffff;
        bits += 6;
        if (bits < 8) continue;
        bits -= 8;
        read[length++] = held >> bits;
      }
      starts[rank] = length;
      at = lines.indexOf(LINE_FEED, at) + 1;
    }
    return read.slice(0, length);
  }

  function keep(rank: number): void {
    let slot = slotOf(bytes, starts[rank] as number, starts[rank + 1] as number);
    while (slots[slot] !== 0) slot = (slot + 1) & (SLOTS - 1);
    slots[slot] = rank + 1;
  }

  /** First slot of a token (FNV-1a). */
  function slotOf(within: Uint8Array, from: number, to: number): number {
    let hash = 0x811c9dc5;
    for (let at = from; at < to; at++) hash = Math.imul(hash ^ (within[at] as number), 0x01000193);
    return (hash ^ (hash >>> 15)) & (SLOTS - 1);
  }

  function rankOf(within: Uint8Array, from: number, to: number): number {
    let slot = slotOf(within, from, to);
    for (;;) {
      const rank = (slots[slot] as number) - 1;
      if (rank === -1) return noRank;
      if (isToken(rank, within, from, to)) return rank;
      slot = (slot + 1) & (SLOTS - 1);
    }
  }

  function isToken(rank: number, within: Uint8Array, from: number, to: number): boolean {
    const start = starts[rank] as number;
    if ((starts[rank + 1] as number) - start !== to - from) return false;
    for (let at = from; at < to; at++) if (bytes[start + at - from] !== within[at]) return false;
    return true;
  }
}

/** Characters of a run of one class that is cut: counting a word takes time quadratic in its length. */
const MAX_RUN_CHARACTERS = 128;

/** Long runs of the character classes that make up words. */
const LONG_RUN = new RegExp(
  ['[\\p{L}\\p{M}]', '[^\\s\\p{L}\\p{N}]', '\\s', '[\\r\\n/]']
    .map((kind) => `${kind}{${MAX_RUN_CHARACTERS}}`)
    .join('|'),
  'gu',
);

/**
 * False if a text has no long run for certain. A quick test, because the pattern for long runs takes nearly as long
 * as counting and most texts have none. A long run covers at least one multiple of its length, so only those
 * positions are examined. Non-ASCII characters count as any class.
 */
function mayHaveLongRun(text: string): boolean {
  for (let at = MAX_RUN_CHARACTERS - 1; at < text.length; at += MAX_RUN_CHARACTERS) {
    if (isWithinRun(text, at, isLetter) || isWithinRun(text, at, isNeither)) return true;
  }
  return false;
}

function isLetter(code: number): boolean {
  return (code > 64 && code < 91) || (code > 96 && code < 123) || code > 127;
}

function isNeither(code: number): boolean {
  return !(code > 47 && code < 58) && (code > 127 || !isLetter(code));
}

function isWithinRun(text: string, at: number, isOfKind: (code: number) => boolean): boolean {
  let from = at;
  let to = at;
  while (from > 0 && isOfKind(text.charCodeAt(from - 1))) from--;
  while (to < text.length && isOfKind(text.charCodeAt(to))) to++;
  return to - from >= MAX_RUN_CHARACTERS;
}

/** Counts the words of a text, each by byte pair encoding. */
export function createTokenCounter({ rankOf, noRank }: TokenTable): TokenCounter {
  /** Longer words are counted in parts. */
  const WORD_CHARACTERS = 1024;
  /** Size of the cache of counted words: most of a text repeats a few. */
  const MAX_CACHED_WORDS = 8192;

  /** Words of the encoding: no token crosses their bounds. */
  const word = wordPattern();
  const known = new Map<string, number>();
  /** Working memory: the bytes of the word, the start of each part, the rank of each part joined with the next. */
  const spelt = Buffer.alloc(WORD_CHARACTERS * 3);
  const parts = new Int32Array(spelt.length + 1);
  const ranks = new Int32Array(spelt.length);

  return (text) => {
    if (!mayHaveLongRun(text)) return countWords(text);
    let tokens = 0;
    let from = 0;
    for (const run of text.matchAll(LONG_RUN)) {
      const to = run.index + run[0].length;
      tokens += countWords(text.slice(from, to));
      from = to;
    }
    return tokens + countWords(text.slice(from));
  };

  function wordPattern(): RegExp {
    const upper = '[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]';
    const lower = '[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]';
    const before = '[^\\r\\n\\p{L}\\p{N}]?';
    const after = "(?:'(?:[sdmtSDMT]|[lL][lL]|[vV][eE]|[rR][eE]))?";
    const kinds = [
      `${before}${upper}*${lower}+${after}`,
      `${before}${upper}+${lower}*${after}`,
      '\\p{N}{1,3}',
      ' ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*',
      '\\s*[\\r\\n]+',
      '\\s+(?!\\S)',
      '\\s+',
    ];
    return new RegExp(kinds.join('|'), 'gu');
  }

  function countWords(text: string): number {
    let tokens = 0;
    let from = 0;
    word.lastIndex = 0;
    while (word.test(text)) {
      tokens += countWord(text.slice(from, word.lastIndex));
      from = word.lastIndex;
    }
    return tokens;
  }

  function countWord(text: string): number {
    const counted = known.get(text);
    if (counted !== undefined) return counted;
    let tokens = 0;
    for (let from = 0; from < text.length; from += WORD_CHARACTERS) {
      tokens += countBytes(spelt.write(text.slice(from, from + WORD_CHARACTERS), 'utf8'));
    }
    if (known.size >= MAX_CACHED_WORDS) known.clear();
    known.set(text, tokens);
    return tokens;
  }

  /** Byte pair encoding: joins the pair with the lowest rank until none is left; returns the number of parts. */
  function countBytes(length: number): number {
    if (rankOf(spelt, 0, length) !== noRank) return 1;
    let count = length;
    for (let part = 0; part <= count; part++) parts[part] = part;
    for (let part = 0; part < count; part++) ranks[part] = rankWithNext(part, count);
    for (let part = lowest(count); part !== -1; part = lowest(count)) {
      parts.copyWithin(part + 1, part + 2, count + 1);
      ranks.copyWithin(part + 1, part + 2, count);
      count--;
      ranks[part] = rankWithNext(part, count);
      if (part > 0) ranks[part - 1] = rankWithNext(part - 1, count);
    }
    return count;
  }

  /** The part with the lowest rank when joined with the next; -1 if there is none. */
  function lowest(count: number): number {
    let rank = noRank;
    let found = -1;
    for (let part = 0; part < count; part++) {
      if ((ranks[part] as number) >= rank) continue;
      rank = ranks[part] as number;
      found = part;
    }
    return found;
  }

  function rankWithNext(part: number, count: number): number {
    return part + 2 > count ? noRank : rankOf(spelt, parts[part] as number, parts[part + 2] as number);
  }
}
