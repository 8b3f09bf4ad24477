import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';

/** A socket without a network: receives what the test gives it, and drops what is written. */
export class MemorySocket extends Duplex {
  constructor() {
    super({ allowHalfOpen: true });
    this.on('error', () => {});
  }

  /** Bytes from the other side, a character for each; null ends its side. */
  receive(text: string | null): void {
    if (!this.destroyed && !this.readableEnded) this.push(text === null ? null : Buffer.from(text, 'latin1'));
  }

  /** For our parsers, which use no more of a socket than this has. */
  asSocket(): Socket {
    return this as unknown as Socket;
  }

  destroySoon(): void {
    this.end(() => this.destroy());
  }

  override _read(): void {}

  override _write(_chunk: unknown, _encoding: BufferEncoding, done: () => void): void {
    done();
  }
}

/** Waits for turns of the event loop. */
export async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve));
}
