import type { Socket } from 'node:net';
import type { Outgoing } from './outbound-response.ts';

/** What every answer begins with. */
const ANSWER_BEGINNING = 'HTTP/1.1 ';

/**
 * Milliseconds before each probe. The first one reaches a caller that has left, whose system answers with a reset; the
 * next one fails because of it. The later ones are for callers that leave later.
 */
const WAITS_MS: readonly number[] = [20, 50, 130, 500, 1_500, 5_000, 15_000, 40_000];
const LAST_WAIT_MS = 80_000;

/**
 * Finds out whether a caller that has ended its side still reads. The end looks the same for a caller that closed its
 * socket and for one that only sends nothing more; the difference shows when something is written. So the bytes that
 * every answer begins with are sent ahead, one at a time, and left out when the answer comes. A stream that has begun
 * writes a comment.
 */
export class PresenceProbe {
  readonly #socket: Socket;
  /** The answer that is written, or is to be written next. */
  readonly #answer: () => Outgoing | undefined;
  /** Bytes of it that were sent ahead. */
  #sentBytes = 0;
  #probes = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(socket: Socket, answer: () => Outgoing | undefined) {
    this.#socket = socket;
    this.#answer = answer;
    this.#wait();
  }

  /** The rest of what an answer begins with. */
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
    const answer = this.#answer();
    if (answer?.hasBegun === true) answer.heartbeat?.beat();
    else if (answer !== undefined && this.#sentBytes < ANSWER_BEGINNING.length) {
      this.#socket.write(ANSWER_BEGINNING.charAt(this.#sentBytes++), 'latin1');
    }
    this.#wait();
  };
}
