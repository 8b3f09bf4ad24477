/**
 * A stream on its way from the socket that reads it to the reply that writes it. Every layer between them is a flow:
 * bytes, then batches of events. One consumer, one step at a time.
 *
 * `next` and `return` work as in any async iterator, and only `next` reports the end and failures. `poll` and
 * `whenReady` are the same flow without promises: `next` costs one or two in each of the five layers, for every event
 * of a stream. A flow that lacks them (a generator) is read with `next` alone. Do not call `poll` while a `next` is
 * pending.
 */
export interface Flow<T> extends AsyncIterator<T, unknown, undefined> {
  /** The next value if it is ready and needs no further waiting; undefined: call `whenReady` or `next`. */
  poll?(): T | undefined;
  /** Calls `wake` once when `poll` may have a value again. False: `wake` is not called, call `next`. */
  whenReady?(wake: () => void): boolean;
  /** True after the last value of a flow that did not fail: `next` would only say so, and `return` do nothing. */
  readonly hasEnded?: boolean;
}

/** The next step of a flow: at once where its value is ready. */
export function nextStep<T>(flow: Flow<T>): IteratorResult<T, unknown> | Promise<IteratorResult<T, unknown>> {
  const value = flow.poll?.();
  return value === undefined ? flow.next() : { done: false, value };
}

/** What is read as one flow: begins when it is iterated. */
export interface FlowSource<T> {
  [Symbol.asyncIterator](): Flow<T>;
}

export class PeekableFlow<T> implements AsyncIterableIterator<T, unknown, undefined> {
  readonly #source: Flow<T>;
  #peeked: T | undefined;

  constructor(source: Flow<T>) {
    this.#source = source;
  }

  peek(): T | undefined {
    this.#peeked ??= this.#source.poll?.();
    return this.#peeked;
  }

  take(): void {
    this.#peeked = undefined;
  }

  next(): Promise<IteratorResult<T, unknown>> {
    const value = this.#peeked;
    if (value === undefined) return this.#source.next();
    this.#peeked = undefined;
    return Promise.resolve({ done: false, value });
  }

  /** Calls `wake` once when `peek` may have a value. False: there is one, or only `next` goes on. */
  whenReady(wake: () => void): boolean {
    return this.#peeked === undefined && (this.#source.whenReady?.(wake) ?? false);
  }

  async return(): Promise<IteratorResult<T, unknown>> {
    this.#peeked = undefined;
    await this.#source.return?.();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}

/** Takes the values of a flow that are ready, now and as they arrive, between two calls of `next`. */
export class ReadyValues<T> {
  readonly #flow: Flow<T>;
  readonly #take: (value: T) => boolean;
  #isStopped = false;
  #done: () => void = ignore;
  #fail: (reason: unknown) => void = ignore;

  /** `take` returns false to pause: its own consumer is behind. */
  constructor(flow: Flow<T>, take: (value: T) => boolean) {
    this.#flow = flow;
    this.#take = take;
  }

  /** Calls `done` when `take` has paused or only `next` goes on, `fail` when something throws. */
  readonly takeAll = (done: () => void, fail: (reason: unknown) => void): void => {
    this.#done = done;
    this.#fail = fail;
    this.#run();
  };

  /** Takes nothing more, although the flow may still wake it. */
  stop(): void {
    this.#isStopped = true;
  }

  readonly #run = (): void => {
    if (this.#isStopped) return;
    try {
      if (!this.#takeReady()) this.#done();
    } catch (thrown) {
      this.#fail(thrown);
    }
  };

  /** Returns true if the flow will wake it, false if `take` has paused or only `next` goes on. */
  #takeReady(): boolean {
    const flow = this.#flow;
    for (let value = flow.poll?.(); value !== undefined; value = flow.poll?.()) {
      if (!this.#take(value)) return false;
      // Mostly one value is ready: asking first saves a poll through all layers.
      if (flow.whenReady?.(this.#run) === true) return true;
    }
    return flow.whenReady?.(this.#run) === true;
  }
}

function ignore(): void {}
