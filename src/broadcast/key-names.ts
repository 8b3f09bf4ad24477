import type { Clock } from '../kit/time/clock.ts';
import type { Tenancy } from '../ports/tenancy/tenancy.ts';
import type { KeyNames } from './destination-follower.ts';

/** How long a name is remembered, milliseconds: a key that was renamed is called by its new name soon. */
const REMEMBERED_MS = 60_000;
const MAX_REMEMBERED = 10_000;

/** Looks names of keys up, and remembers them for a while. */
export function keyNamesOf({
  tenancy,
  clock,
}: {
  readonly tenancy: Pick<Tenancy, 'findKey'>;
  readonly clock: Pick<Clock, 'monotonic'>;
}): KeyNames {
  let known = new Map<string, string | undefined>();
  let forgetAt = clock.monotonic() + REMEMBERED_MS;
  return async (hashes) => {
    if (clock.monotonic() >= forgetAt || known.size > MAX_REMEMBERED) {
      known = new Map();
      forgetAt = clock.monotonic() + REMEMBERED_MS;
    }
    const names = new Map<string, string>();
    for (const hash of hashes) {
      if (!known.has(hash)) known.set(hash, (await tenancy.findKey(hash))?.name);
      const name = known.get(hash);
      if (name !== undefined) names.set(hash, name);
    }
    return names;
  };
}
