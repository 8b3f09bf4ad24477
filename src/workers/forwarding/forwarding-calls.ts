import type { RequestFraming } from '../../net/http1/server/request-framing.ts';
import type { RequestHead } from '../../net/http1/server/request-head.ts';

/** The beginning of a request that a worker forwards. */
export interface ForwardedHead extends RequestHead {
  readonly framing: RequestFraming;
  /** Address of the other end of the caller's connection. */
  readonly peerAddress: string;
  /** The connection stays open after the response, as far as the worker is concerned. */
  readonly keepsAlive: boolean;
}

/** Bytes of a body, or of a response, that are on their way at most: then the sender waits for the reader. */
export const WINDOW_BYTES = 64 * 1024;

/** What a worker tells the owner of the requests that it forwards; `id` is unique for the worker. */
export type OwnerForwardingCalls = {
  open(id: number, head: ForwardedHead): void;
  piece(id: number, bytes: Uint8Array): void;
  /** The body is complete. */
  end(id: number): void;
  /** The caller has ended its side before the end of the body. */
  cut(id: number): void;
  /** The caller has read so much of the response. */
  taken(id: number, size: number): void;
  /** All of the response has left, or the caller's connection is closed. */
  closed(id: number, isFlushed: boolean): void;
};

/** What the owner tells a worker of the responses. */
export type WorkerForwardingCalls = {
  write(id: number, data: string | Uint8Array, encoding: BufferEncoding): void;
  /** The response is complete. `lingers`: part of the request was not read. */
  finish(id: number, keepsAlive: boolean, lingers: boolean): void;
  /** The connection must be closed. */
  destroy(id: number): void;
  /** The owner has read so much of the body. */
  read(id: number, size: number): void;
};
