import { GrowingText } from '../../kit/text/growing-text.ts';

/** The two ways in which chat upstreams tell thoughts; many use both. */
export type ThoughtSource = 'plain' | 'details';

/**
 * Tells what is news in thoughts that come twice, as plain text and as details: in one chunk, or one after the other, in
 * pieces of any size.
 */
export class SentThoughts {
  /** The source that is ahead, and what the other has not repeated yet. */
  #source: ThoughtSource | undefined;
  #ahead = new GrowingText();

  /** True when nothing waits to be repeated. */
  get isInStep(): boolean {
    return this.#source === undefined;
  }

  /** The part of a piece that was not told yet. */
  newsIn(piece: string, source: ThoughtSource): string {
    if (source === this.#source) {
      this.#ahead.add(piece);
      return piece;
    }
    const ahead = this.#ahead.toString();
    if (ahead.startsWith(piece)) {
      this.#set(this.#source, ahead.slice(piece.length));
      return '';
    }
    const news = piece.startsWith(ahead) ? piece.slice(ahead.length) : piece;
    this.#set(source, news);
    return news;
  }

  #set(source: ThoughtSource | undefined, ahead: string): void {
    this.#source = ahead === '' ? undefined : source;
    this.#ahead = new GrowingText();
    this.#ahead.add(ahead);
  }
}
