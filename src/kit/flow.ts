/**
 * A sequence of which may also be taken what is at hand, without waiting. Of a stream nearly everything passes this way:
 * one call from the socket that brought it to the socket that it goes to, where `next` costs a promise or two in every
 * layer between them. Whoever has not this to offer leaves it out. Never asked while a `next` is
 * awaited; of what was given up, only `next` tells.
 */
export interface Flow<T> extends AsyncIterator<T, unknown, undefined> {
  /** What comes next, if it is at hand and there is nothing about it to wait for. */
  poll?(): T | undefined;
  /** Has `wake` called, once, when there may be something at hand again; false: only `next` brings more. */
  whenReady?(wake: () => void): boolean;
}

/** The members of a flow that a generator has not. */
export type Polling<T> = Required<Pick<Flow<T>, 'poll' | 'whenReady'>>;

/** A generator of which may also be taken what `polling` has at hand. Nothing but the two is kept alive by it. */
export function polled<T>(
  generator: AsyncGenerator<T, void, void>,
  polling: Polling<T>,
): AsyncGenerator<T, void, void> & Polling<T> {
  return Object.assign(generator, {
    poll: () => polling.poll(),
    whenReady: (wake: () => void) => polling.whenReady(wake),
  });
}
