import type { Endpoint, Model } from '../../catalog/catalog.ts';
import { GatewayError } from '../../ir/errors.ts';
import type { Strategy, TranslationEntry } from '../../ir/metadata.ts';
import type { Rejection } from '../rules/candidate.ts';

/** A rule of a router's own, beyond those that every request has. */
export interface RouterRule extends Pick<Rejection, 'filter' | 'reason'> {
  rejects(endpoint: Endpoint, model: Model): boolean;
}

/** What is known of a choice that came to nothing. */
export interface Emptiness {
  readonly strategy: Strategy;
  /** What ruled all models out, besides the rules that every request has. */
  readonly rule?: RouterRule;
  /** Settings that had no effect. */
  readonly report?: readonly TranslationEntry[];
}

/** A router has no model to choose from. */
export class NothingToChoose extends GatewayError {
  readonly emptiness: Emptiness;

  constructor(message: string, emptiness: Emptiness) {
    super('not-found', message);
    this.emptiness = emptiness;
  }
}
