/** Characters of a caller's text that a message shows. */
const MOST_SHOWN = 100;

/** Text from a request, as a message may show it: whole, or its beginning with an ellipsis. */
export function shortened(text: string): string {
  return text.length <= MOST_SHOWN ? text : `${text.slice(0, MOST_SHOWN - 1)}…`;
}

/** The same in quotes. */
export function quoted(text: string): string {
  return `"${shortened(text)}"`;
}
