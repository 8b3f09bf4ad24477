import type { Socket } from 'node:net';
import type { OutboundResponse } from './outbound-response.ts';

/** The beginning of every response: its bytes are the probes. */
const STATUS_LINE_START = 'HTTP/1.1 ';

/**
 * Milliseconds before each probe. If the caller has closed its socket, its system replies to the first probe with a
 * reset, and the next one fails. The later probes are for callers that close later.
 */
const WAITS_MS: readonly number[] = [20, 50, 130, 500, 1_500, 5_000, 15_000, 40_000];
const LAST_WAIT_MS = 80_000;

/**
 * Finds out whether a caller that has ended its side still reads. A FIN looks the same from a caller that closed its
 * socket and from one that only sends nothing more; the difference shows at the next write. So the bytes that every
 * response begins with are sent ahead, one at a time, and left out when the response is written. A stream that has
 * begun writes a heartbeat.
 */
export class PresenceProbe {
  readonly #socket: Socket;
  /** The response that is being written, or is written next. */
  readonly #response: () => OutboundResponse | undefined;
  /** Bytes of it that were sent ahead. */
  #sentBytes = 0;
  #probes = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(socket: Socket, response: () => OutboundResponse | undefined) {
    this.#socket = socket;
    this.#response = response;
    this.#wait();
  }

  /** Cuts off what was sent ahead from the first write of a response. */
  withoutSent(data: string | Uint8Array): string | Uint8Array {
    const sentBytes = this.#sentBytes;
    if (sentBytes === 0) return data;
    this.#sentBytes = 0;
    return typeof data === 'string' ? data.slice(sentBytes) : data.subarray(sentBytes);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  #wait(): void {
    this.#timer = setTimeout(this.#probe, WAITS_MS[this.#probes++] ?? LAST_WAIT_MS).unref();
  }

  readonly #probe = (): void => {
    if (!this.#socket.writable) return;
    const response = this.#response();
    if (response?.hasBegun === true) response.heartbeat?.beat();
    else if (response !== undefined && this.#sentBytes < STATUS_LINE_START.length) {
      this.#socket.write(STATUS_LINE_START.charAt(this.#sentBytes++), 'latin1');
    }
    this.#wait();
  };
}
