import type { GenerationLedger } from '../../ports/money/ledger.ts';
import type { LegDependencies, LegState } from '../leg/leg-dependencies.ts';
import type { Drains } from '../leg/upstream-reading.ts';
import type { GenerationTimes, PlannedGeneration } from '../record/generation-row.ts';
import type { Refusals } from '../record/refused-row.ts';
import type { Settlement } from '../record/settle.ts';
import type { OpenWork } from './open-work.ts';

export interface AnswerDependencies extends LegDependencies {
  readonly ledger: GenerationLedger;
  /** Called with every generation that has ended, after its settlement. Must not throw. */
  readonly onSettled: (generation: PlannedGeneration, settlement: Settlement, times: GenerationTimes) => void;
  /**
   * Called with every generation that ends without a record: none was due, or the ledger cannot be written. Must not
   * throw.
   */
  readonly onUnrecorded: (generation: PlannedGeneration, settlement: Settlement) => void;
  /** Notes requests that are refused before any upstream is called; absent = they get no rows. */
  readonly refusals?: Refusals | undefined;
}

export interface AnswerState extends LegState {
  readonly drains: Drains;
  readonly open: OpenWork;
}
