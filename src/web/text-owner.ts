import type { PlaceOwner } from '../kit/loop/fair-places.ts';

/** The owner of texts that are read: keys of an account share its places, and take turns. */
export function textOwner({
  accountId,
  key,
}: {
  readonly accountId: string;
  readonly key: { readonly hash: string };
}): PlaceOwner {
  return { group: accountId, member: key.hash };
}
