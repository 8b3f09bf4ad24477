/** Reads a date (midnight UTC) or a time: epoch milliseconds; undefined if it is invalid. */
export function momentMs(text: string): number | undefined {
  const milliseconds = Date.parse(text);
  if (!Number.isFinite(milliseconds)) return undefined;
  // The 30th of February is read as a day of March.
  return new Date(milliseconds).toISOString().startsWith(text.slice(0, 10)) ? milliseconds : undefined;
}
