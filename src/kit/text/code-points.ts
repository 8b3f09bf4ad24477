/** A text whose positions are given in code points, as languages other than ours count them. */
export interface CodePointText {
  readonly text: string;
  /** The position in UTF-16 units; that of the nearest end for one outside of the text. */
  unitAt(codePoint: number): number;
}

const HAS_SURROGATES = /[\ud800-\udfff]/;

export function codePointText(text: string): CodePointText {
  const within = (unit: number) => Math.min(Math.max(unit, 0), text.length);
  if (!HAS_SURROGATES.test(text)) return { text, unitAt: within };
  const units: number[] = [];
  let unit = 0;
  for (const character of text) {
    units.push(unit);
    unit += character.length;
  }
  return { text, unitAt: (codePoint) => (codePoint < 0 ? 0 : (units[codePoint] ?? text.length)) };
}
