/**
 * The URL that a text holds; undefined if it holds none. `URL.canParse` of Node 20 refuses valid texts with letters
 * such as "ü" as soon as its caller has been compiled.
 */
export function urlOf(text: string, base?: string): URL | undefined {
  try {
    return new URL(text, base);
  } catch {
    return undefined;
  }
}
