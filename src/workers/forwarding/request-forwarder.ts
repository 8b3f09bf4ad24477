import type { InboundRequest } from '../../net/http1/server/inbound-request.ts';
import type { OutboundResponse } from '../../net/http1/server/outbound-response.ts';
import { type OwnerForwardingCalls, WINDOW_BYTES, type WorkerForwardingCalls } from './forwarding-calls.ts';

/** Tells the owner something; resolves nothing. */
export type TellOwner = <Name extends keyof OwnerForwardingCalls>(
  name: Name,
  ...args: Parameters<OwnerForwardingCalls[Name]>
) => void;

/**
 * Forwards requests of a worker to the owner. The owner's response is written as it comes: byte for byte what the
 * caller would get from the owner itself.
 */
export class RequestForwarder {
  readonly #tell: TellOwner;
  readonly #open = new Map<number, ForwardedRequest>();
  #lastId = 0;

  constructor(tell: TellOwner) {
    this.#tell = tell;
  }

  /** The handlers of what the owner tells. Those of responses whose callers are gone do nothing. */
  readonly handlers: WorkerForwardingCalls = {
    write: (id, data, encoding) => this.#open.get(id)?.write(data, encoding),
    finish: (id, keepsAlive, lingers) => this.#open.get(id)?.finish(keepsAlive, lingers),
    destroy: (id) => this.#open.get(id)?.destroy(),
    read: (id, size) => this.#open.get(id)?.onRead(size),
  };

  readonly forward = (request: InboundRequest, response: OutboundResponse): void => {
    const id = ++this.#lastId;
    const { whenClosed } = response;
    response.whenClosed = (isFlushed) => {
      this.#open.delete(id);
      this.#tell('closed', id, isFlushed);
      whenClosed?.(isFlushed);
    };
    const { method, url: target, httpVersion: version, rawHeaders, framing, peerAddress } = request;
    const { keepsAlive } = response;
    this.#tell('open', id, { method, target, version, rawHeaders, framing, peerAddress, keepsAlive });
    const forwarded = new ForwardedRequest(id, request, response, this.#tell);
    this.#open.set(id, forwarded);
    forwarded.start();
  };
}

class ForwardedRequest {
  readonly #id: number;
  readonly #request: InboundRequest;
  readonly #response: OutboundResponse;
  readonly #tell: TellOwner;
  /** Bytes of the body that the owner has not read. */
  #unread = 0;
  /** Size of what was written while the caller reads slowly. */
  #untaken = 0;

  constructor(id: number, request: InboundRequest, response: OutboundResponse, tell: TellOwner) {
    this.#id = id;
    this.#request = request;
    this.#response = response;
    this.#tell = tell;
  }

  /** Sends the body as it comes, within the window. */
  start(): void {
    this.#request.read({
      piece: (bytes) => {
        this.#unread += bytes.length;
        // Copied: the connection reads into the same buffer again, and messages leave at the end of the turn.
        this.#tell('piece', this.#id, Buffer.from(bytes));
        return this.#unread < WINDOW_BYTES;
      },
      end: () => this.#tell('end', this.#id),
      cut: () => this.#tell('cut', this.#id),
    });
  }

  onRead(size: number): void {
    this.#unread -= size;
    if (this.#unread < WINDOW_BYTES) this.#request.resumeReading();
  }

  write(data: string | Uint8Array, encoding: BufferEncoding): void {
    this.#untaken += data.length;
    if (this.#response.write(data, encoding)) this.#taken();
    else this.#response.onceWritable(() => this.#taken());
  }

  finish(keepsAlive: boolean, lingers: boolean): void {
    if (lingers) {
      this.#response.endLingering();
      return;
    }
    this.#response.keepsAlive &&= keepsAlive;
    if (!this.#request.isComplete) this.#request.discard();
    this.#response.end();
  }

  destroy(): void {
    this.#response.destroy();
  }

  #taken(): void {
    if (this.#untaken === 0) return;
    this.#tell('taken', this.#id, this.#untaken);
    this.#untaken = 0;
  }
}
