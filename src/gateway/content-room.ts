import { GatewayError } from '../ir/errors.ts';

/**
 * The room in memory for the content of stored files, which all requests share: a request of some bytes may name
 * megabytes, and many of them must not come to more than there is.
 */
export class ContentRoom {
  #takenBytes = 0;

  /** What all requests have of it now. */
  get takenBytes(): number {
    return this.#takenBytes;
  }

  /** The share of a request, nothing yet. `replied` resolves when its reply has left, or nobody waits for that. */
  open(replied: Promise<void>): ContentShare {
    let shareBytes = 0;
    return {
      take: (bytes, roomBytes) => {
        if (this.#takenBytes + bytes > roomBytes) throw roomTaken();
        this.#takenBytes += bytes;
        shareBytes += bytes;
      },
      close: async () => {
        await replied;
        this.#takenBytes -= shareBytes;
        shareBytes = 0;
      },
    };
  }
}

/** What one request has of the room. */
export interface ContentShare {
  /** To be asked before anything is read. Throws 503 where this is more than others leave of the room. */
  take(bytes: number, roomBytes: number): void;
  /** The work on the request has ended: gives all of it back, as soon as the reply needs it no more. */
  close(): Promise<void>;
}

function roomTaken(): GatewayError {
  return new GatewayError(
    'overloaded',
    'Service temporarily unavailable: the stored files of the requests in flight take all the memory there is for them',
    { retryAfterSeconds: 1 },
  );
}
