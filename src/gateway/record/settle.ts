import { FREE } from '../../catalog/prices/bill.ts';
import { GatewayError } from '../../ir/errors.ts';
import { type Event, type EventBatch, type Settled, terminalIndex, terminalOf } from '../../ir/events.ts';
import { Fold } from '../../ir/folding/fold.ts';
import type { LegStatus } from '../../ir/leg.ts';
import type { RoutingMetadata } from '../../ir/metadata.ts';
import type { Result } from '../../ir/result.ts';
import { type Bill, NO_USAGE } from '../../ir/usage.ts';
import type { Flow } from '../../kit/frames/flow.ts';
import { BATCH_POINT } from '../../kit/loop/cohort.ts';
import { LedgerUnavailable } from '../../ports/money/ledger.ts';
import type { AnswerEnd, LegAccount } from '../leg/leg-account.ts';
import { OpenItems } from './open-items.ts';

/** How a generation ended: the source of its record, row and metrics. */
export interface Settlement extends Settled, LegAccount {
  readonly outcome: 'finished' | 'failed' | 'aborted';
  readonly result: Result;
  readonly error?: GatewayError;
  /** The generation whose answer was reused; absent = none. */
  readonly servedFrom?: string;
}

export const LEG_STATUSES: Readonly<Record<Settlement['outcome'], LegStatus>> = {
  finished: 'completed',
  failed: 'failed',
  aborted: 'cancelled',
};

export interface SettleDependencies {
  readonly metadata: (outcome: 'served' | 'failed') => RoutingMetadata | undefined;
  /** Characters of the answer that the settlement keeps. */
  readonly keptCharacters: number;
  readonly account: (result: Result, end: AnswerEnd) => LegAccount | Promise<LegAccount>;
  /** Called with each batch before it is forwarded. `isLast`: the account is closed right after it. */
  readonly watch: (batch: EventBatch, isLast: boolean) => void;
  /** False if the reservation is used up: the answer ends here. */
  readonly mayGoOn: () => boolean;
  readonly reading: { readonly isAbandoned: boolean; readonly isDraining: boolean };
  /** Called exactly once, before the terminal event is forwarded. Resolves with the final bill. */
  readonly record: (settlement: Settlement) => Promise<Bill>;
}

/**
 * Folds an answer while it passes and closes its account: usage, cost, one record. The terminal event is forwarded
 * only after the record was made. An abandoned answer is settled too.
 *
 * One reader pulls it, one step at a time, to its end, or ends it early. Not a generator: that would cost several
 * promises and a queue for each step.
 */
export class SettledAnswer implements AsyncIterableIterator<EventBatch, void, undefined>, Flow<EventBatch> {
  readonly #source: Flow<EventBatch>;
  readonly #dependencies: SettleDependencies;
  readonly #fold: Fold;
  readonly #openItems = new OpenItems();
  /** A polled batch that needs settlement before it is forwarded: `next` returns it. */
  #held: Step | undefined;
  /** A step that was put back. */
  #first: IteratorResult<EventBatch, void> | undefined;
  /** The pending step: `return` waits for it. */
  #step: Promise<unknown> | undefined;
  #isOver = false;
  /** Set once the answer has ended. */
  #result: Result | undefined;

  constructor(source: Flow<EventBatch>, dependencies: SettleDependencies) {
    this.#source = source;
    this.#fold = new Fold(dependencies.keptCharacters);
    this.#dependencies = dependencies;
  }

  next(): Promise<IteratorResult<EventBatch, void>> {
    const first = this.#first;
    if (first !== undefined) {
      this.#first = undefined;
      return Promise.resolve(first);
    }
    const step = this.#pull();
    this.#step = step;
    return step;
  }

  /** Gives back the first step, which was pulled to learn who serves the answer. `next` returns it again. */
  putBack(first: IteratorResult<EventBatch, void>): void {
    this.#first = first;
  }

  /** Pulls the answer to its end, mostly in one step, and returns all of it. */
  whole(): Promise<Result> {
    return this.#pull().then(() => (this.#isOver ? this.#all : this.#wholeRest()));
  }

  async #wholeRest(): Promise<Result> {
    while (!this.#isOver) await this.#pull();
    return this.#all;
  }

  get #all(): Result {
    return this.#result ?? this.#fold.result();
  }

  poll(): EventBatch | undefined {
    if (this.#first !== undefined || this.#held !== undefined) return undefined;
    const batch = this.#source.poll?.();
    if (batch === undefined) return undefined;
    const step = this.#look(batch);
    if (step.terminal === undefined && step.mayGoOn) return batch;
    this.#held = step;
    return undefined;
  }

  whenReady(wake: () => void): boolean {
    return this.#first === undefined && this.#held === undefined && (this.#source.whenReady?.(wake) ?? false);
  }

  async return(): Promise<IteratorResult<EventBatch, void>> {
    this.#first = undefined;
    await this.#step?.catch(() => {});
    if (!this.#isOver) await this.#leave(undefined);
    return OVER;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async #pull(): Promise<IteratorResult<EventBatch, void>> {
    if (this.#isOver) return OVER;
    let step = this.#held;
    this.#held = undefined;
    try {
      if (step === undefined) {
        const next = await this.#source.next();
        if (next.done !== true) step = this.#look(next.value);
      }
      if (step !== undefined && step.terminal === undefined && step.mayGoOn) {
        // A long wait for the next step must not keep this one in memory.
        this.#step = undefined;
        return { done: false, value: step.passing };
      }
    } catch (error) {
      await this.#leave(error instanceof GatewayError ? error : undefined);
      throw error;
    }
    if (step === undefined) {
      await this.#leave(undefined);
      return OVER;
    }
    this.#isOver = true;
    try {
      if (step.terminal === undefined) await this.#source.return?.();
      return await this.#end(step);
    } finally {
      if (this.#source.hasEnded !== true) await this.#source.return?.();
    }
  }

  /** Folds and meters a batch before it is forwarded. The account is closed before its terminal event is. */
  #look(batch: EventBatch): Step {
    const at = terminalIndex(batch);
    if (at === -1) {
      this.#fold.pushAll(batch);
      this.#dependencies.watch(batch, false);
      this.#openItems.push(batch);
      return { passing: batch, terminal: undefined, mayGoOn: this.#dependencies.mayGoOn() };
    }
    const last = batch[at] as Event;
    const passing = batch.slice(0, last.type === 'relay' ? at + 1 : at);
    this.#fold.pushAll(passing);
    this.#dependencies.watch(passing, true);
    return { passing, terminal: terminalOf(last), mayGoOn: true };
  }

  /** The last batch of an answer with its cost. Adds a terminal event if there is none. */
  #end({ passing, terminal = CUT_SHORT }: Step): Promise<IteratorResult<EventBatch, void>> {
    const fold = this.#fold;
    const ending = terminal === CUT_SHORT ? this.#openItems.ending() : [];
    fold.pushAll(ending);
    fold.push(terminal);
    const result = fold.result();
    return settle(result, terminal, this.#dependencies).then((ended) => {
      this.#result = resultOf(result, ended);
      return { done: false, value: [...passing, ...ending, ended] };
    });
  }

  /** Closes the account of an answer that did not reach its end. */
  async #leave(failure: GatewayError | undefined): Promise<void> {
    this.#isOver = true;
    try {
      if (failure === undefined) await this.#drain();
      await settleUnfinished(this.#fold, failure, this.#dependencies);
    } finally {
      await this.#source.return?.();
    }
  }

  /** Reads the rest of an abandoned answer for the usage report at its end. */
  async #drain(): Promise<void> {
    const held = this.#held;
    this.#held = undefined;
    if (held?.terminal !== undefined) {
      this.#fold.push(held.terminal);
      return;
    }
    try {
      while (this.#dependencies.reading.isDraining) {
        const step = await this.#source.next();
        if (step.done === true) return;
        const isLast = terminalIndex(step.value) !== -1;
        this.#fold.pushAll(step.value);
        this.#dependencies.watch(step.value, isLast);
        if (isLast) return;
      }
    } catch {
      // The part read so far counts.
    }
  }
}

const OVER = { done: true, value: undefined } as const;

function resultOf(result: Result, ended: SettledTerminal): Result {
  const { settled } = ended;
  return ended.type === 'failure'
    ? { ...result, failure: ended.error, settled }
    : { ...result, finish: ended, settled };
}

/** The end of an answer that the gateway ended. */
const CUT_SHORT: Terminal = { type: 'finish', reason: 'length' };

/** A batch after inspection. */
interface Step {
  /** Without the terminal event. Relayed frames pass whole: their encoder holds the end back. */
  readonly passing: EventBatch;
  readonly terminal: Terminal | undefined;
  readonly mayGoOn: boolean;
}

type Terminal = NonNullable<ReturnType<typeof terminalOf>>;

type SettledTerminal = Terminal & { readonly settled: Settled };

/** The terminal event with the answer's cost. An answer that could not be recorded fails. */
async function settle(
  result: Result,
  terminal: Terminal,
  dependencies: SettleDependencies,
): Promise<SettledTerminal> {
  const failed = terminal.type === 'failure';
  const end = failed ? terminal.error : terminal === CUT_SHORT ? 'cut' : 'whole';
  const closing = dependencies.account(result, end);
  const { usage, bill, uncharged } = closing instanceof Promise ? await closing : closing;
  const metadata = dependencies.metadata(failed ? 'failed' : 'served');
  const shown = metadata === undefined ? {} : { metadata };
  try {
    await BATCH_POINT;
    const charged = await dependencies.record({
      usage,
      bill,
      ...shown,
      outcome: failed ? 'failed' : dependencies.reading.isAbandoned ? 'aborted' : 'finished',
      result,
      uncharged,
      ...(failed && { error: terminal.error }),
    });
    return { ...terminal, settled: { usage, bill: charged, ...shown } };
  } catch (error) {
    if (!(error instanceof LedgerUnavailable)) throw error;
    // Without a record the caller gets no figures.
    const settled = { usage: NO_USAGE, bill: FREE, ...shown };
    return { type: 'failure', error: unrecordedError(error), settled };
  }
}

function unrecordedError(cause: LedgerUnavailable): GatewayError {
  const message = 'The answer could not be recorded: the gateway cannot write its ledger now';
  return new GatewayError('overloaded', message, { retryAfterSeconds: 5, cause });
}

/** The settlement of a generation whose record could not be written: it has failed, whatever its answer was. */
export function unrecorded(settlement: Settlement, cause: LedgerUnavailable): Settlement {
  if (settlement.outcome !== 'finished') return settlement;
  return { ...settlement, outcome: 'failed', error: unrecordedError(cause) };
}

/**
 * Settles an answer without an end. If no endpoint served it, nothing is charged. If the caller left, the output so
 * far is charged, by our own count if need be.
 */
async function settleUnfinished(
  fold: Fold,
  failure: GatewayError | undefined,
  dependencies: SettleDependencies,
): Promise<void> {
  const result = fold.result();
  const cut = dependencies.reading.isAbandoned ? 'left' : 'cut';
  const end = result.finish === undefined ? (failure ?? cut) : 'whole';
  const { usage, bill, uncharged } = await dependencies.account(result, end);
  const settlement: Settlement = {
    usage,
    bill,
    outcome: failure === undefined ? 'aborted' : 'failed',
    result,
    uncharged,
    ...(failure !== undefined && { error: failure }),
  };
  // The caller is gone, so a failure to record is not reported; the ledger records it as soon as it can.
  await dependencies.record(settlement).catch((error: unknown) => {
    if (!(error instanceof LedgerUnavailable)) throw error;
  });
}
