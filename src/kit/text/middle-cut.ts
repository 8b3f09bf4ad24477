/** A text of at most so many UTF-16 units: of a longer one the beginning and the end, with a mark between them. */
export function middleCut(text: string, most: number, mark = '...'): string {
  if (text.length <= most) return text;
  const kept = Math.max(0, most - mark.length);
  const begin = Math.ceil(kept / 2);
  const end = text.length - (kept - begin);
  // Halves of a character that takes two units are left out.
  const head = text.slice(0, isFirstHalf(text, begin - 1) ? begin - 1 : begin);
  return head + mark + text.slice(isFirstHalf(text, end - 1) ? end + 1 : end);
}

function isFirstHalf(text: string, index: number): boolean {
  const unit = text.charCodeAt(index);
  return unit >= 0xd800 && unit < 0xdc00;
}
