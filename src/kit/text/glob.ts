/**
 * Compiles a pattern in which `*` stands for any run of characters, also an empty one; everything else means itself.
 * Whatever the pattern, matching walks through the text once: each piece between two stars is taken where it first
 * occurs, because taking it later never helps.
 */
export function glob(pattern: string): (text: string) => boolean {
  const [head = '', ...rest] = pattern.split('*');
  const tail = rest.pop();
  if (tail === undefined) return (text) => text === pattern;
  const pieces = rest.filter((piece) => piece !== '');
  const leastLength = pieces.reduce((sum, piece) => sum + piece.length, head.length + tail.length);
  return (text) => {
    if (text.length < leastLength || !text.startsWith(head) || !text.endsWith(tail)) return false;
    const end = text.length - tail.length;
    let at = head.length;
    for (const piece of pieces) {
      const found = text.indexOf(piece, at);
      if (found === -1) return false;
      at = found + piece.length;
    }
    return at <= end;
  };
}

/**
 * Matches a text against many patterns. A bit set of characters rules out most of them, which contain a character that
 * the text lacks, so that a thousand hostile patterns cost no more than a thousand harmless ones.
 */
export function anyGlob(patterns: Iterable<string>): (text: string) => boolean {
  const globs = [...new Set(patterns)].map((pattern) => ({
    characters: charactersOf(pattern.replaceAll('*', '')),
    fits: glob(pattern),
  }));
  return (text) => {
    const absent = ~charactersOf(text);
    return globs.some(({ characters, fits }) => (characters & absent) === 0 && fits(text));
  };
}

/** A bit set of the characters of a text; several characters share a bit. */
function charactersOf(text: string): number {
  let bits = 0;
  for (let index = 0; index < text.length; index++) bits |= 1 << (text.charCodeAt(index) & 31);
  return bits;
}
