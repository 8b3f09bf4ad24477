/**
 * Where a text first holds another, or -1. Takes as long as both are long together: the search of the engine takes as long
 * as the one times the other for texts that are made for it, and callers choose both.
 */
export function firstIndex(text: string, sought: string): number {
  if (sought === '' || sought.length > text.length) return sought === '' ? 0 : -1;
  const borders = bordersOf(sought);
  let matched = 0;
  for (let at = 0; at < text.length; at++) {
    matched = extended(sought, borders, matched, text.charCodeAt(at));
    if (matched === sought.length) return at - matched + 1;
  }
  return -1;
}

/** For each length, the longest shorter start of the text that the start of this length ends with. */
function bordersOf(text: string): Uint32Array {
  const borders = new Uint32Array(text.length + 1);
  for (let length = 1; length < text.length; length++) {
    borders[length + 1] = extended(text, borders, borders[length] ?? 0, text.charCodeAt(length));
  }
  return borders;
}

/** How much of the text is matched after one unit more, when `matched` units of it were. */
function extended(text: string, borders: Uint32Array, matched: number, unit: number): number {
  let length = matched;
  while (length > 0 && text.charCodeAt(length) !== unit) length = borders[length] ?? 0;
  return text.charCodeAt(length) === unit ? length + 1 : 0;
}
