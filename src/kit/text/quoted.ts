/** Characters of a caller's text that a message shows. */
const MAX_SHOWN = 100;

/** Text from a request for a message: whole, or its beginning with an ellipsis. */
export function shortened(text: string): string {
  return text.length <= MAX_SHOWN ? text : `${text.slice(0, MAX_SHOWN - 1)}…`;
}

/** Text from a request for a message: shortened, and in quotes. */
export function quoted(text: string): string {
  return `"${shortened(text)}"`;
}
