import type { DecodeContext } from '../../dialect.ts';

/**
 * Seed of ids that an upstream left out: constant in an answer, different in the next one, so that the calls of a long
 * conversation stay apart.
 */
export function idSeedOf({ idSeed, request }: DecodeContext): string {
  return idSeed ?? `turn${request.items.length}`;
}
