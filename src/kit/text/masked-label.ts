/** A secret shorter than this shows none of its characters. */
const SHORTEST_SHOWN = 12;

/** What may be shown of a secret: its first 3 characters, `...` and its last 4; of a short one only `...`. */
export function maskedLabel(secret: string): string {
  return secret.length < SHORTEST_SHOWN ? '...' : `${secret.slice(0, 3)}...${secret.slice(-4)}`;
}
