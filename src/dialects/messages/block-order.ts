import { writeSseFrame } from '../../kit/frames/sse.ts';

interface WaitingBlock {
  readonly frames: string[];
  isStopped: boolean;
}

/**
 * Puts the frames of blocks in order, one block after the other, as clients read them. Most upstreams write them so; of
 * those that mix them, the frames of later blocks wait until the one before has stopped.
 */
export class BlockOrder {
  #current: number | undefined;
  readonly #waiting = new Map<number, WaitingBlock>();

  /** Whether the block began and did not stop. */
  isOpen(index: number): boolean {
    return this.#current === index || this.#waiting.get(index)?.isStopped === false;
  }

  /** A block begins; what of it can be written now. */
  start(index: number, frame: string): string {
    if (this.#current === undefined) {
      this.#current = index;
      return frame;
    }
    this.#waiting.set(index, { frames: [frame], isStopped: false });
    return '';
  }

  /** More of an open block. */
  add(index: number, frame: string): string {
    if (this.#current === index) return frame;
    this.#waiting.get(index)?.frames.push(frame);
    return '';
  }

  /** An open block stops. */
  stop(index: number, frame: string): string {
    if (this.#current === index) {
      this.#current = undefined;
      return frame + this.#goOn();
    }
    const block = this.#waiting.get(index);
    if (block === undefined) return '';
    block.frames.push(frame);
    block.isStopped = true;
    return '';
  }

  /** Stops everything that is open. */
  stopAll(): string {
    let text = '';
    while (this.#current !== undefined) text += this.stop(this.#current, stopFrame(this.#current));
    return text;
  }

  /** What waited for the last block, up to the next one that is still open. */
  #goOn(): string {
    let text = '';
    for (const [index, block] of this.#waiting) {
      this.#waiting.delete(index);
      text += block.frames.join('');
      if (block.isStopped) continue;
      this.#current = index;
      break;
    }
    return text;
  }
}

function stopFrame(index: number): string {
  return writeSseFrame(JSON.stringify({ type: 'content_block_stop', index }), 'content_block_stop');
}
