import { GatewayError } from '../../ir/errors.ts';
import type { Strategy, TranslationEntry } from '../../ir/metadata.ts';

/** A router has no model to choose from. */
export class NothingToChoose extends GatewayError {
  readonly strategy: Strategy;
  /** Settings that had no effect. */
  readonly report: readonly TranslationEntry[];

  constructor(strategy: Strategy, message: string, report: readonly TranslationEntry[] = []) {
    super('not-found', message);
    this.strategy = strategy;
    this.report = report;
  }
}
