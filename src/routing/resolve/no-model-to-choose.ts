import type { Endpoint, Model } from '../../catalog/catalog.ts';
import { GatewayError } from '../../ir/errors.ts';
import type { Strategy, TranslationEntry } from '../../ir/metadata.ts';
import type { Rejection } from '../rules/candidate.ts';

/** A rule of a router, in addition to those of every request. */
export interface RouterRule extends Pick<Rejection, 'filter' | 'reason'> {
  rejects(endpoint: Endpoint, model: Model): boolean;
}

export interface EmptyChoice {
  readonly strategy: Strategy;
  /** The router's own rule, if it left no model. */
  readonly rule?: RouterRule;
  /** Settings that had no effect. */
  readonly report?: readonly TranslationEntry[];
}

export class NoModelToChoose extends GatewayError {
  readonly choice: EmptyChoice;

  constructor(message: string, choice: EmptyChoice) {
    super('not-found', message);
    this.choice = choice;
  }
}
