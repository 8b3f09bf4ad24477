import { GatewayError } from '../../ir/errors.ts';

/**
 * The room in memory for what requests name: stored files and output items. All requests share it: a request of some
 * bytes may name megabytes, and many of them must not come to more than there is.
 */
export class ContentRoom {
  #takenBytes = 0;

  /** What all requests have of it now. */
  get takenBytes(): number {
    return this.#takenBytes;
  }

  /** The share of a request, nothing yet. `replied` resolves when its reply has left, or the caller has. */
  open(replied: () => Promise<void>): ContentShare {
    return new Share(this, replied);
  }

  /** Takes some of it. Throws 503 where there is not so much. */
  take(bytes: number, roomBytes: number): void {
    if (this.#takenBytes + bytes > roomBytes) throw roomTaken();
    this.#takenBytes += bytes;
  }

  giveBack(bytes: number): void {
    this.#takenBytes -= bytes;
  }
}

/** What one request has of the room. */
export interface ContentShare {
  /** To be asked before anything is read. Throws 503 where this is more than others leave of the room. */
  take(bytes: number, roomBytes: number): void;
  /** The work on the request has ended: gives all of it back, as soon as the reply needs it no more. */
  close(): Promise<void>;
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

  async close(): Promise<void> {
    // Hardly any request names a file or an item: then there is nothing to give back.
    if (this.#bytes === 0) return;
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
