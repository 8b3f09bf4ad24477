import type { Caller } from '../ports/tenancy/caller.ts';

/** Common members of endpoints for what an account owns. */
export const MANAGEMENT = { rateClass: 'management' } as const;

export const DELETED = { deleted: true } as const;

interface PlacedCall {
  readonly caller: Caller;
  readonly params: { readonly id: string };
}

/** The account of the caller, and the id in the path. */
export function placeOf({ caller, params }: PlacedCall): [accountId: string, id: string] {
  return [caller.accountId, params.id];
}

/** `placeOf` for ids that are UUIDs, in lower case as they are stored. */
export function uuidPlaceOf({ caller, params }: PlacedCall): [accountId: string, id: string] {
  return [caller.accountId, params.id.toLowerCase()];
}
