import type { Clock } from '../../kit/time/clock.ts';
import type { GenerationRow } from '../../ports/generations/generation-row.ts';
import type { PlannedGeneration } from '../record/generation-row.ts';
import { externalUserOf, sessionIdOf } from '../record/row-request.ts';
import type { Settlement } from '../record/settle.ts';
import {
  type AttemptFacts,
  attemptFactsOf,
  type EndKind,
  endOf,
  type FailureFacts,
  factsOf,
  failureFactsOf,
  type GenerationFacts,
  rescuedCalls,
} from './generation-facts.ts';

/** A generation that has just ended, for operators who watch. */
export interface TailedGeneration
  extends GenerationFacts,
    Partial<Omit<FailureFacts, 'requested'>>,
    Pick<GenerationRow, 'session_id' | 'external_user'> {
  /** ISO 8601. */
  readonly time: string;
  readonly end: EndKind;
  readonly requested: string;
  /** Attempts that a fallback rescued; absent = none. */
  readonly rescued?: readonly AttemptFacts[];
}

type Reader = (generation: TailedGeneration) => void;

/** Passes ended generations to readers. Keeps nothing, and costs nothing without readers. */
export class GenerationTail {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #readers = new Set<Reader>();
  #onReaders: ((hasReaders: boolean) => void) | undefined;

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  /** Adds a reader, which must not throw. Returns a function that removes it. */
  read(reader: Reader): () => void {
    this.#readers.add(reader);
    if (this.#readers.size === 1) this.#onReaders?.(true);
    return () => {
      if (this.#readers.delete(reader) && this.#readers.size === 0) this.#onReaders?.(false);
    };
  }

  get hasReaders(): boolean {
    return this.#readers.size > 0;
  }

  /** Calls the listener when the first reader comes and when the last one leaves. */
  watchReaders(listener: (hasReaders: boolean) => void): void {
    this.#onReaders = listener;
  }

  note(generation: PlannedGeneration, settlement: Settlement): void {
    if (this.#readers.size === 0) return;
    this.pass(tailedOf(generation, settlement, this.#clock.now()));
  }

  /** Passes on a generation that has ended in another process. */
  pass(generation: TailedGeneration): void {
    for (const reader of this.#readers) reader(generation);
  }
}

function tailedOf(generation: PlannedGeneration, settlement: Settlement, nowMs: number): TailedGeneration {
  const { error, outcome } = settlement;
  const rescued = outcome === 'failed' ? [] : rescuedCalls(generation).map(attemptFactsOf);
  return {
    time: new Date(nowMs).toISOString(),
    end: endOf(settlement),
    requested: generation.attemptLog.plan.requested,
    ...factsOf(generation, settlement, nowMs),
    session_id: sessionIdOf(generation.input, generation.request),
    external_user: externalUserOf(generation.request),
    ...(outcome === 'failed' && error !== undefined && failureFactsOf(generation, error)),
    ...(rescued.length > 0 && { rescued }),
  };
}
