const MARK = '...';

/** A text of at most so many UTF-16 units: of a longer one the beginning and the end, with `...` between them. */
export function shortened(text: string, most: number): string {
  if (text.length <= most) return text;
  const kept = most - MARK.length;
  const begin = Math.ceil(kept / 2);
  const head = text.slice(0, isHigh(text, begin - 1) ? begin - 1 : begin);
  const from = text.length - (kept - begin);
  return head + MARK + text.slice(isHigh(text, from - 1) ? from + 1 : from);
}

/** The first half of a character that takes two units. */
function isHigh(text: string, index: number): boolean {
  const unit = text.charCodeAt(index);
  return unit >= 0xd800 && unit < 0xdc00;
}
