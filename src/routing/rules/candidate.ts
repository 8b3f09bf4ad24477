import type { Endpoint, Model } from '../../catalog/catalog.ts';
import type { Lane } from '../../dialects/lane.ts';
import type { OwnCredential } from '../../ports/own-credentials.ts';

/** Whose credential an endpoint is called with: the gateway's own, or one that the caller's account brought. */
export type Access =
  | { readonly kind: 'shared' }
  | { readonly kind: 'own'; readonly credential: OwnCredential };

export const SHARED: Access = { kind: 'shared' };

/** One endpoint that a request may be sent to, with one credential. */
export interface Candidate {
  readonly model: Model;
  readonly endpoint: Endpoint;
  readonly access: Access;
  readonly lane: Lane;
}

/** A candidate at its place in the order of attempts. */
export interface RankedCandidate extends Candidate {
  /** Its share of the draw among equals by price, 0..1; absent where nothing was drawn. */
  readonly weight?: number;
  /** First because an earlier request of the conversation went there. */
  readonly isSticky: boolean;
}

/** An endpoint that was ruled out, and why. */
export interface Rejection {
  readonly endpoint: Endpoint;
  /** Short name of the rule: `only`, `modalities`, `max_price`. */
  readonly filter: string;
  readonly reason: string;
}

/**
 * What health and stickiness know a candidate by: the endpoint, and the credential where it is not the gateway's own.
 * A caller's copy of an endpoint and the shared one count as two, and a new secret begins anew.
 */
export function siteOf({ site }: Pick<Endpoint, 'site'>, access: Access): string {
  return access.kind === 'shared' ? site : `${site}\n${access.credential.id}\n${access.credential.version}`;
}

/** Whether two plans mean the same candidate: each has objects of its own. */
export function isSameCandidate(one: Candidate, other: Candidate): boolean {
  if (one === other) return true;
  return (
    one.model === other.model && siteOf(one.endpoint, one.access) === siteOf(other.endpoint, other.access)
  );
}
