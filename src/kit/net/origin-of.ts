/** Origin of a URL; null if it has none. */
export function originOf(address: string | null): string | null {
  if (address === null || !URL.canParse(address)) return null;
  const { origin } = new URL(address);
  return origin === 'null' ? null : origin;
}
