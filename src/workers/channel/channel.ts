import type { Socket } from 'node:net';
import { DefaultSerializer, deserialize } from 'node:v8';
import { decodeError, type EncodedError, encodeError } from './error-codec.ts';
import { FRAME_HEAD_BYTES, FrameReader } from './frame-reader.ts';

/** Functions that a process offers to the one at the other end, by name. Arguments and results are plain data. */
// biome-ignore lint/suspicious/noExplicitAny: any function fits; each caller sees its own signature.
export type Handlers = Readonly<Record<string, (...args: any[]) => unknown>>;

/** The other end is gone: the call was not answered, and may have been carried out all the same. */
export class ChannelClosed extends Error {
  constructor() {
    super('the other process has closed the channel');
    this.name = 'ChannelClosed';
  }
}

type Message =
  | readonly [kind: 'call', id: number, name: string, args: readonly unknown[]]
  | readonly [kind: 'note', name: string, args: readonly unknown[]]
  | readonly [kind: 'result', id: number, value: unknown]
  | readonly [kind: 'failure', id: number, error: EncodedError];

interface PendingCall {
  resolve(value: unknown): void;
  reject(error: Error): void;
}

const NO_LENGTH = Buffer.alloc(FRAME_HEAD_BYTES);

/**
 * A socket for each direction. On a socket for both, the first write to a process that has died fails and discards all
 * that the process had sent and was not read yet.
 */
export interface ChannelSockets {
  /** Carries what the other process sends. Its end is the end of the channel. */
  readonly incoming: Socket;
  readonly outgoing: Socket;
}

export interface ChannelEvents {
  /** The other end is gone, and all that it had sent was taken. Called once. */
  closed(): void;
  /** A note could not be handled: a fault of this program. */
  failed(name: string, error: unknown): void;
}

/**
 * Calls between two processes over sockets. All messages of one turn of the event loop leave in one frame, so that
 * many requests share the cost of a system call. Messages arrive in the order in which they were sent.
 */
export class Channel<Remote extends Handlers, Local extends Handlers> {
  readonly #outgoing: Socket;
  readonly #handlers: Local;
  readonly #events: ChannelEvents;
  readonly #reader = new FrameReader();
  readonly #pending = new Map<number, PendingCall>();
  #lastId = 0;
  #queue: Message[] = [];
  #isClosed = false;

  constructor({ incoming, outgoing }: ChannelSockets, handlers: Local, events: ChannelEvents) {
    this.#outgoing = outgoing;
    this.#handlers = handlers;
    this.#events = events;
    // The other process is gone: what it had sent is read to its end first.
    outgoing.on('error', () => {});
    incoming
      .on('data', (bytes: Buffer) => this.#read(bytes))
      // 'close' follows.
      .on('error', () => {})
      .on('end', () => incoming.destroy())
      .on('close', () => this.#close());
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Calls a function of the other process. Rejects with its error, or with ChannelClosed. */
  call<Name extends keyof Remote & string>(
    name: Name,
    ...args: Parameters<Remote[Name]>
  ): Promise<Awaited<ReturnType<Remote[Name]>>> {
    if (this.#isClosed) return Promise.reject(new ChannelClosed());
    const id = ++this.#lastId;
    this.#send(['call', id, name, args]);
    return new Promise((resolve, reject) => this.#pending.set(id, { resolve: resolve as never, reject }));
  }

  /** Calls a function of the other process without an answer; does nothing once the channel is closed. */
  note<Name extends keyof Remote & string>(name: Name, ...args: Parameters<Remote[Name]>): void {
    if (!this.#isClosed) this.#send(['note', name, args]);
  }

  /** Sends what is queued, then closes. */
  close(): void {
    this.#flush();
    this.#outgoing.end();
  }

  #send(message: Message): void {
    if (this.#queue.push(message) === 1) setImmediate(this.#flush);
  }

  readonly #flush = (): void => {
    const messages = this.#queue;
    this.#queue = [];
    if (messages.length === 0 || this.#isClosed || this.#outgoing.destroyed) return;
    try {
      this.#write(messages);
    } catch {
      // One of them is no plain data. The others must not suffer from it.
      for (const message of messages) this.#writeAlone(message);
    }
  };

  #write(messages: readonly Message[]): void {
    const serializer = new DefaultSerializer();
    // The length stands in the same buffer, so that a frame is one write and is not copied.
    serializer.writeRawBytes(NO_LENGTH);
    serializer.writeHeader();
    serializer.writeValue(messages);
    const frame = serializer.releaseBuffer();
    frame.writeUInt32LE(frame.length - FRAME_HEAD_BYTES);
    this.#outgoing.write(frame);
  }

  #writeAlone(message: Message): void {
    try {
      this.#write([message]);
    } catch (error) {
      if (message[0] === 'call') this.#takePending(message[1])?.reject(error as Error);
      else if (message[0] === 'result') this.#write([['failure', message[1], encodeError(error)]]);
      else this.#events.failed(String(message[1]), error);
    }
  }

  #read(bytes: Buffer): void {
    for (const frame of this.#reader.push(bytes)) {
      for (const message of deserialize(frame) as readonly Message[]) this.#take(message);
    }
  }

  #take(message: Message): void {
    switch (message[0]) {
      case 'call':
        this.#answer(message[1], message[2], message[3]);
        break;
      case 'note':
        void this.#handleNote(message[1], message[2]);
        break;
      case 'result':
        this.#takePending(message[1])?.resolve(message[2]);
        break;
      case 'failure':
        this.#takePending(message[1])?.reject(decodeError(message[2]));
        break;
    }
  }

  #takePending(id: number): PendingCall | undefined {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    return pending;
  }

  #answer(id: number, name: string, args: readonly unknown[]): void {
    const succeeded = (value: unknown) => {
      if (!this.#isClosed) this.#send(['result', id, value]);
    };
    const failed = (error: unknown) => {
      if (!this.#isClosed) this.#send(['failure', id, encodeError(error)]);
    };
    try {
      const value = this.#run(name, args);
      if (value instanceof Promise) value.then(succeeded, failed);
      else succeeded(value);
    } catch (error) {
      failed(error);
    }
  }

  async #handleNote(name: string, args: readonly unknown[]): Promise<void> {
    try {
      await this.#run(name, args);
    } catch (error) {
      this.#events.failed(name, error);
    }
  }

  #run(name: string, args: readonly unknown[]): unknown {
    const handler = this.#handlers[name];
    if (handler === undefined) throw new RangeError(`the channel has no function ${name}`);
    return handler(...args);
  }

  #close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#outgoing.destroy();
    this.#queue = [];
    const pending = [...this.#pending.values()];
    this.#pending.clear();
    for (const { reject } of pending) reject(new ChannelClosed());
    this.#events.closed();
  }
}
