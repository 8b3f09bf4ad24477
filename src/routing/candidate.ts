import type { Endpoint, Model } from '../catalog/catalog.ts';
import type { Lane } from '../upstream/upstream.ts';

/** One endpoint that a request may be sent to. */
export interface Candidate {
  readonly model: Model;
  readonly endpoint: Endpoint;
  readonly lane: Lane;
}

/** An endpoint that was ruled out, and why. */
export interface Rejection {
  readonly endpoint: Endpoint;
  /** Short name of the rule: `only`, `modalities`, `max_price`. */
  readonly filter: string;
  readonly reason: string;
}
