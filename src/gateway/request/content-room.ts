import { GatewayError } from '../../ir/errors.ts';

/**
 * The memory for content that requests name: stored files and output items. All requests share one limit, because a
 * request of a few bytes may name megabytes.
 */
export class ContentRoom {
  #takenBytes = 0;

  get takenBytes(): number {
    return this.#takenBytes;
  }

  /** Opens the share of a request. `replied` resolves when its reply has been sent, or the caller has left. */
  open(replied: () => Promise<void>): ContentShare {
    return new Share(this, replied);
  }

  /** Takes bytes. Throws 503 if there are too few. */
  take(bytes: number, roomBytes: number): void {
    if (this.#takenBytes + bytes > roomBytes) throw roomTaken();
    this.#takenBytes += bytes;
  }

  giveBack(bytes: number): void {
    this.#takenBytes -= bytes;
  }
}

export interface ContentShare {
  /** Call before reading content. Throws 503 if too few bytes are left. */
  take(bytes: number, roomBytes: number): void;
  /** The request has ended: releases all of its bytes once the reply no longer needs them. */
  close(): void;
}

class Share implements ContentShare {
  readonly #room: ContentRoom;
  readonly #replied: () => Promise<void>;
  #bytes = 0;

  constructor(room: ContentRoom, replied: () => Promise<void>) {
    this.#room = room;
    this.#replied = replied;
  }

  take(bytes: number, roomBytes: number): void {
    this.#room.take(bytes, roomBytes);
    this.#bytes += bytes;
  }

  close(): void {
    // Hardly any request names a file or an item.
    if (this.#bytes > 0) void this.#closeOnceReplied();
  }

  async #closeOnceReplied(): Promise<void> {
    await this.#replied();
    this.#room.giveBack(this.#bytes);
    this.#bytes = 0;
  }
}

function roomTaken(): GatewayError {
  return new GatewayError(
    'overloaded',
    'Service temporarily unavailable: the output items and stored files of the requests in flight take all the memory there is for them',
    { retryAfterSeconds: 1 },
  );
}
