import type { Endpoint, Model } from '../../catalog/catalog.ts';
import type { Lane } from '../../dialects/lane.ts';
import type { ByokCredential } from '../../ports/tenancy/byok-credentials.ts';

/** The credential of a call: the gateway's (`shared`), or a BYOK credential. */
export type Access =
  | { readonly kind: 'shared' }
  | { readonly kind: 'byok'; readonly credential: ByokCredential };

export const SHARED: Access = { kind: 'shared' };

/** An endpoint with one credential. */
export interface Candidate {
  readonly model: Model;
  readonly endpoint: Endpoint;
  readonly access: Access;
  readonly lane: Lane;
}

export interface RankedCandidate extends Candidate {
  /** Its chance in the draw by price, 0..1; absent = not in a draw. */
  readonly weight?: number | undefined;
  /** First because the conversation is pinned to it. */
  readonly isSticky: boolean;
}

/** A rejected endpoint, with the reason. */
export interface Rejection {
  readonly endpoint: Endpoint;
  /** Short name of the rule: `only`, `modalities`, `max_price`. */
  readonly filter: string;
  readonly reason: string;
}

/**
 * The site of a candidate: its key in health and pins. Each BYOK credential makes a site of its own, with a
 * new one when its secret changes.
 */
export function siteOf({ site }: Pick<Endpoint, 'site'>, access: Access): string {
  return access.kind === 'shared' ? site : `${site}\n${access.credential.id}\n${access.credential.version}`;
}

export interface SiteParts {
  readonly model: string;
  /** Tag of the endpoint. */
  readonly endpoint: string;
  readonly upstreamModel: string;
  /** Id of the BYOK credential; undefined = the gateway's own. */
  readonly byokCredential: string | undefined;
}

/** Takes a site of `siteOf` apart. Names contain no line breaks. */
export function partsOfSite(site: string): SiteParts {
  const [model = '', endpoint = '', upstreamModel = '', byokCredential] = site.split('\n');
  return { model, endpoint, upstreamModel, byokCredential };
}

/** Compares candidates of two plans, which are different objects. */
export function isSameCandidate(one: Candidate, other: Candidate): boolean {
  if (one === other) return true;
  return (
    one.model === other.model && siteOf(one.endpoint, one.access) === siteOf(other.endpoint, other.access)
  );
}
