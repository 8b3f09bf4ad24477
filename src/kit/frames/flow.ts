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

/** A flow of bytes. */
export interface ByteFlow extends Flow<Uint8Array> {
  /**
   * What is at hand, as text, if that is no more than so many bytes and ends with a character of one byte. Undefined does
   * not say that there is nothing: `poll` does. Bytes that are read as text at once need no place of their own.
   */
  pollText?(most: number): string | undefined;
}

/** The members of a flow that a generator has not. */
export type Polling<T> = Required<Pick<Flow<T>, 'poll' | 'whenReady'>>;
