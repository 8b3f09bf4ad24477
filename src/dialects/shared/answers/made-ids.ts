import type { DecodeContext } from '../../dialect.ts';

/**
 * What ids are made of that an upstream left out: the same for the whole answer, another for the next one, so that the
 * calls of a long conversation stay apart.
 */
export function idSeedOf({ idSeed, request }: DecodeContext): string {
  return idSeed ?? `turn${request.items.length}`;
}
