import { GatewayError } from '../../ir/errors.ts';
import type { Strategy } from '../../ir/metadata.ts';

/** A router has no model to choose from. */
export class NothingToChoose extends GatewayError {
  readonly strategy: Strategy;

  constructor(strategy: Strategy, message: string) {
    super('not-found', message);
    this.strategy = strategy;
  }
}
