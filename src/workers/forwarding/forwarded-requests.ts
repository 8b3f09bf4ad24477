import { type BodySource, InboundRequest } from '../../net/http1/server/inbound-request.ts';
import { OutboundResponse, type ResponseConnection } from '../../net/http1/server/outbound-response.ts';
import {
  type ForwardedHead,
  type OwnerForwardingCalls,
  WINDOW_BYTES,
  type WorkerForwardingCalls,
} from './forwarding-calls.ts';

/** Tells the worker something; resolves nothing. */
export type TellWorker = <Name extends keyof WorkerForwardingCalls>(
  name: Name,
  ...args: Parameters<WorkerForwardingCalls[Name]>
) => void;

export interface ForwardedRequestsOptions {
  readonly tell: TellWorker;
  accept(request: InboundRequest, response: OutboundResponse): void;
  /**
   * Resolves once all workers know of the changes that were made by now; undefined = they do. A response waits for it:
   * a caller that has revoked a key must find it revoked at every worker.
   */
  changesKnown(): Promise<void> | undefined;
}

export class ForwardedRequests {
  readonly #options: ForwardedRequestsOptions;
  readonly #open = new Map<number, ForwardedConnection>();

  constructor(options: ForwardedRequestsOptions) {
    this.#options = options;
  }

  readonly handlers: OwnerForwardingCalls = {
    open: (id, head) => this.#begin(id, head),
    piece: (id, bytes) =>
      this.#open.get(id)?.onPiece(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)),
    end: (id) => this.#open.get(id)?.request.complete(),
    cut: (id) => this.#open.get(id)?.request.cut(),
    taken: (id, size) => this.#open.get(id)?.onTaken(size),
    closed: (id, isFlushed) => this.#end(id, isFlushed),
  };

  /** The worker is gone, and the connections of its callers with it. */
  workerGone(): void {
    for (const id of [...this.#open.keys()]) this.#end(id, false);
  }

  #begin(id: number, head: ForwardedHead): void {
    const connection = new ForwardedConnection(id, head, this.#options);
    this.#open.set(id, connection);
    this.#options.accept(connection.request, connection.response);
  }

  #end(id: number, isFlushed: boolean): void {
    const connection = this.#open.get(id);
    this.#open.delete(id);
    connection?.onClosed(isFlushed);
  }
}

/** The connection of one forwarded request, as its request and its response see it. It carries no other request. */
class ForwardedConnection implements ResponseConnection, BodySource {
  readonly request: InboundRequest;
  readonly response: OutboundResponse;
  readonly peerAddress: string;
  readonly #id: number;
  readonly #options: ForwardedRequestsOptions;
  /** Bytes of the body that were taken from the worker while nothing reads it. */
  #unread = 0;
  /** Size of what the caller has not taken yet. */
  #untaken = 0;
  /** Writes that wait for `changesKnown`. */
  #held: (() => void)[] | undefined;

  constructor(id: number, head: ForwardedHead, options: ForwardedRequestsOptions) {
    this.#id = id;
    this.#options = options;
    this.peerAddress = head.peerAddress;
    this.request = new InboundRequest(head, head.framing, this);
    this.response = new OutboundResponse(this, head.keepsAlive);
  }

  get needsDrain(): boolean {
    return this.#untaken >= WINDOW_BYTES;
  }

  isTurnOf(): boolean {
    return true;
  }

  write(data: string | Uint8Array, encoding: BufferEncoding): boolean {
    this.#untaken += data.length;
    this.#send(() => this.#options.tell('write', this.#id, data, encoding));
    return !this.needsDrain;
  }

  cork(): void {}

  uncork(): void {}

  finish({ keepsAlive }: OutboundResponse): void {
    this.#send(() => this.#options.tell('finish', this.#id, keepsAlive, false));
  }

  finishAndLinger(): void {
    this.#send(() => this.#options.tell('finish', this.#id, false, true));
  }

  destroy(): void {
    this.#send(() => this.#options.tell('destroy', this.#id));
  }

  onPiece(bytes: Buffer): void {
    this.#unread += bytes.length;
    this.request.push(bytes);
    if (this.request.wantsMore) this.resumeReading();
  }

  /** Called by the request when it wants more of its body. */
  resumeReading(): void {
    if (this.#unread === 0) return;
    this.#options.tell('read', this.#id, this.#unread);
    this.#unread = 0;
  }

  onTaken(size: number): void {
    const wasBlocked = this.needsDrain;
    this.#untaken -= size;
    if (wasBlocked && !this.needsDrain) this.response.becomeWritable();
  }

  onClosed(isFlushed: boolean): void {
    this.request.cut();
    this.response.close(isFlushed);
  }

  #send(tell: () => void): void {
    if (this.#held !== undefined) {
      this.#held.push(tell);
      return;
    }
    const known = this.#options.changesKnown();
    if (known === undefined) {
      tell();
      return;
    }
    const held = [tell];
    this.#held = held;
    void known.then(() => {
      this.#held = undefined;
      for (const each of held) each();
    });
  }
}
