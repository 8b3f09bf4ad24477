import { type Allowance, AllowanceSpent } from './allowance.ts';

/** How long a text shall be, in characters. */
export interface Lengths {
  readonly least: number;
  readonly most: number;
  /** From `least` on; taken if the pattern has a text of about this length. */
  readonly wished: number;
}

/** Instructions of a pattern that are looked at in one step. */
const TRIES_PER_STEP = 8;

/**
 * Writes a text that a regular expression matches; undefined if the pattern is refused or no text is found. Throws
 * `AllowanceSpent` for a pattern that is too large.
 */
export function patternValue(
  source: string,
  { least, most, wished }: Lengths,
  allowance: Allowance,
): string | undefined {
  const compilation = allowance.compile(source);
  if (compilation === undefined) throw new AllowanceSpent();
  if (!compilation.ok) {
    if (compilation.isTooLarge) throw new AllowanceSpent();
    return undefined;
  }
  for (const length of new Set([wished, least, 0])) {
    const text = compilation.pattern.example(length, (instructions) =>
      allowance.spend(instructions / TRIES_PER_STEP),
    );
    if (text === undefined || (text.length > most && length > 0)) continue;
    allowance.write(text.length);
    return text;
  }
  return undefined;
}
