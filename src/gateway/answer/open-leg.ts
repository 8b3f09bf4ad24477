import { type Event, type EventBatch, terminalIndex } from '../../ir/events.ts';
import { Fold } from '../../ir/folding/fold.ts';
import type { Result } from '../../ir/result.ts';
import { type Flow, PeekableFlow } from '../../kit/frames/flow.ts';
import type { LightAbortController } from '../../kit/loop/light-abort.ts';
import type { RunningLeg } from '../leg/running-leg.ts';
import { OpenItems } from '../record/open-items.ts';
import type { Checkpoints } from './checkpoints.ts';

interface LegOwner {
  readonly keptCharacters: number;
  readonly checkpoints: Checkpoints;
  readonly giveUp: LightAbortController;
}

/** A leg whose account is open: its events are folded and metered as they are read. */
export class OpenLeg {
  readonly giveUp: LightAbortController;
  /** Events of the leg that are not noted yet. */
  readonly events: PeekableFlow<EventBatch>;
  readonly #running: RunningLeg;
  readonly #fold: Fold;
  readonly #openItems = new OpenItems();
  readonly #checkpoints: Checkpoints;

  constructor(
    running: RunningLeg,
    events: Flow<EventBatch>,
    { keptCharacters, checkpoints, giveUp }: LegOwner,
  ) {
    this.giveUp = giveUp;
    this.events = new PeekableFlow(events);
    this.#running = running;
    this.#fold = new Fold(keptCharacters);
    this.#checkpoints = checkpoints;
  }

  /** False if the reservation is used up. */
  get mayGoOn(): boolean {
    return this.#running.mayGoOn();
  }

  /** Folds and meters a batch. The last one makes no checkpoint: the account is closed after it. */
  note(batch: EventBatch, isLast: boolean): void {
    const running = this.#running;
    this.#fold.pushAll(batch);
    running.watch(batch);
    running.request.watch?.received(batch);
    this.#openItems.push(batch);
    if (!isLast) this.#checkpoints.passed(running.uncountedTokens, running.isReported);
  }

  /** The next batch, noted, unless the leg ends with it or before it. */
  poll(): EventBatch | undefined {
    if (!this.mayGoOn) return undefined;
    const batch = this.events.peek();
    if (batch === undefined || terminalIndex(batch) !== -1) return undefined;
    this.events.take();
    this.note(batch, false);
    return batch;
  }

  whenReady(wake: () => void): boolean {
    return this.mayGoOn && this.events.whenReady(wake);
  }

  /** Ends the answer where it stands: the events that end everything that is open, and a terminal event. */
  cutShort(): EventBatch {
    const ending: Event[] = [...this.#openItems.ending(), CUT_SHORT];
    this.#fold.pushAll(ending);
    return ending;
  }

  result(): Result {
    return this.#fold.result();
  }
}

/** The end of a leg that was cut off when its reservation was used up. */
const CUT_SHORT = { type: 'finish', reason: 'length' } as const;
