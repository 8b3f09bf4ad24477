import type { Ledger } from '../../ports/ledger.ts';
import type { LegParts, LegState } from '../leg/leg-parts.ts';
import type { Drains } from '../leg/upstream-reading.ts';
import type { GenerationTimes, PlannedGeneration } from './generation-row.ts';
import type { OpenWork } from './open-work.ts';
import type { Settlement } from './settle.ts';

/** What answering is built from. */
export interface AnswerParts extends LegParts {
  readonly ledger: Ledger;
  /** Gets every generation that has ended, once its account is closed. Must not throw. */
  readonly tell: (generation: PlannedGeneration, settlement: Settlement, times: GenerationTimes) => void;
  /** Gets every generation that ends without a record: none was due, or the ledger cannot be written. Must not throw. */
  readonly tellUnrecorded: (generation: PlannedGeneration, settlement: Settlement) => void;
}

/** What all answers of a gateway share. */
export interface AnswerState extends LegState {
  readonly drains: Drains;
  readonly open: OpenWork;
}
