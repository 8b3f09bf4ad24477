import { type Frame, type FrameReader, FrameTooLarge } from './frames.ts';
import { Utf8Text } from './utf8-text.ts';

/** Media type of server-sent events. */
export const SSE_TYPE = 'text/event-stream';

/** What a line of an event costs besides its characters: empty lines must not be free. */
const LINE_COST = 16;

/**
 * Cuts a byte stream into server-sent events. Pure and synchronous: feed it chunks as they come, cut anywhere, and
 * it returns the events completed so far. Accepts LF, CRLF and CR line ends, a leading byte order mark, comments,
 * `data:` without the space, and multi-byte characters split between chunks.
 */
export class SseReader implements FrameReader {
  readonly #text = new Utf8Text();
  readonly #maxFrameBytes: number;
  /** Text of the line that is still open, in pieces: joined once, so that a long line costs linear time. */
  #pending: string[] = [];
  #pendingLength = 0;
  #data: string[] = [];
  #dataLength = 0;
  #event: string | undefined;
  #skipLineFeed = false;

  constructor(maxFrameBytes = 8 * 1024 * 1024) {
    this.#maxFrameBytes = maxFrameBytes;
  }

  /** The events that `chunk` completes. */
  push(chunk: Uint8Array): Frame[] {
    return this.#read(this.#text.push(chunk));
  }

  /** The event that was still open when the stream ended; some servers leave the last blank line out. */
  end(): Frame[] {
    const frames = this.#read(this.#text.end());
    if (this.#pendingLength > 0) this.#line(this.#takePending(), frames);
    this.#dispatch(frames);
    return frames;
  }

  #read(text: string): Frame[] {
    const frames: Frame[] = [];
    let start = 0;
    if (this.#skipLineFeed && text !== '') {
      if (text.charCodeAt(0) === 10) start = 1;
      this.#skipLineFeed = false;
    }
    let lineFeed = text.indexOf('\n', start);
    let carriageReturn = text.indexOf('\r', start);
    while (lineFeed !== -1 || carriageReturn !== -1) {
      const atReturn = carriageReturn !== -1 && (lineFeed === -1 || carriageReturn < lineFeed);
      const end = atReturn ? carriageReturn : lineFeed;
      const tail = text.slice(start, end);
      this.#line(this.#pendingLength === 0 ? tail : this.#takePending() + tail, frames);
      start = end + 1;
      if (atReturn) {
        if (start === text.length) this.#skipLineFeed = true;
        else if (text.charCodeAt(start) === 10) start++;
        carriageReturn = text.indexOf('\r', start);
      }
      if (lineFeed !== -1 && lineFeed < start) lineFeed = text.indexOf('\n', start);
    }
    this.#keep(start === 0 ? text : text.slice(start));
    return frames;
  }

  #keep(rest: string): void {
    if (rest === '') return;
    this.#pending.push(rest);
    this.#pendingLength += rest.length;
    this.#guard();
  }

  #takePending(): string {
    const line = this.#pending.join('');
    this.#pending = [];
    this.#pendingLength = 0;
    return line;
  }

  #line(line: string, frames: Frame[]): void {
    if (line === '') {
      this.#dispatch(frames);
      return;
    }
    if (line.slice(0, 5) === 'data:') {
      const value = line.slice(line.charCodeAt(5) === 32 ? 6 : 5);
      this.#data.push(value);
      this.#dataLength += value.length + LINE_COST;
      this.#guard();
    } else if (line.slice(0, 6) === 'event:') {
      this.#event = line.slice(line.charCodeAt(6) === 32 ? 7 : 6);
    }
  }

  #dispatch(frames: Frame[]): void {
    if (this.#data.length > 0) {
      const data = this.#data.length === 1 ? (this.#data[0] as string) : this.#data.join('\n');
      frames.push(this.#event === undefined ? { data } : { event: this.#event, data });
      this.#data = [];
      this.#dataLength = 0;
    }
    this.#event = undefined;
  }

  #guard(): void {
    if (this.#dataLength + this.#pendingLength > this.#maxFrameBytes)
      throw new FrameTooLarge(this.#maxFrameBytes);
  }
}

/** Writes one event. `data` must be a single line, as JSON.stringify makes it. */
export function writeSseFrame(data: string, event?: string): string {
  return event === undefined ? `data: ${data}\n\n` : `event: ${event}\ndata: ${data}\n\n`;
}

/** Writes a comment, which every client skips: it opens a stream or keeps it alive. */
export function writeSseComment(text: string): string {
  return `: ${text}\n\n`;
}
