import { boundedText } from '../../kit/json/bounded-json.ts';

/** The beginning of a text, up to the end of a word. */
export function shortenedText(text: string, maxCharacters: number): string {
  if (text.length <= maxCharacters) return text;
  const cut = boundedText(text, maxCharacters);
  const space = cut.lastIndexOf(' ');
  return space > maxCharacters / 2 ? cut.slice(0, space) : cut;
}
