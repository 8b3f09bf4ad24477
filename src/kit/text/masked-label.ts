/** Characters below which a secret is not shown at all. */
const MIN_SHOWN_LENGTH = 12;

/** A secret masked for display: its first 3 characters, `...` and its last 4; of a short one only `...`. */
export function maskedLabel(secret: string): string {
  return secret.length < MIN_SHOWN_LENGTH ? '...' : `${secret.slice(0, 3)}...${secret.slice(-4)}`;
}
