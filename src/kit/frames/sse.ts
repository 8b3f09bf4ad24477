import { Utf8Text } from '../text/utf8-text.ts';
import { type Frame, type FrameReader, FrameTooLarge } from './frames.ts';

export const SSE_TYPE = 'text/event-stream';

/** Characters that a line counts for besides its own, so that empty lines are limited too. */
const LINE_COST = 16;

const NO_FRAMES: readonly Frame[] = [];

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
  /** The first line of data, and those after it. */
  #data: string | undefined;
  #more: string[] | undefined;
  #dataLength = 0;
  #event: string | undefined;
  #skipLineFeed = false;

  constructor(maxFrameBytes = 8 * 1024 * 1024) {
    this.#maxFrameBytes = maxFrameBytes;
  }

  push(chunk: Uint8Array): readonly Frame[] {
    return this.#read(this.#text.push(chunk)) ?? NO_FRAMES;
  }

  /** The event that was still open when the stream ended; some servers leave the last blank line out. */
  end(): readonly Frame[] {
    const frames = this.#read(this.#text.end());
    if (this.#pendingLength > 0) this.#wholeLine(this.#takePending());
    return this.#dispatched(frames) ?? NO_FRAMES;
  }

  #read(text: string): Frame[] | undefined {
    let frames: Frame[] | undefined;
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
      if (this.#pendingLength > 0) this.#wholeLine(this.#takePending() + text.slice(start, end));
      else if (start < end) this.#line(text, start, end);
      else frames = this.#dispatched(frames);
      start = end + 1;
      if (atReturn) {
        if (start === text.length) this.#skipLineFeed = true;
        else if (text.charCodeAt(start) === 10) start++;
        carriageReturn = text.indexOf('\r', start);
      }
      if (lineFeed !== -1 && lineFeed < start) lineFeed = text.indexOf('\n', start);
    }
    if (start < text.length) this.#keep(start === 0 ? text : text.slice(start));
    return frames;
  }

  #keep(rest: string): void {
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

  #wholeLine(line: string): void {
    this.#line(line, 0, line.length);
  }

  /** Reads the line between two indexes, without cutting it out of the text first. */
  #line(text: string, start: number, end: number): void {
    if (standsAt(text, start, 'data:')) this.#addData(text.slice(afterName(text, start + 5), end));
    else if (standsAt(text, start, 'event:')) this.#event = text.slice(afterName(text, start + 6), end);
  }

  #addData(line: string): void {
    if (this.#data === undefined) this.#data = line;
    else if (this.#more === undefined) this.#more = [line];
    else this.#more.push(line);
    this.#dataLength += line.length + LINE_COST;
    this.#guard();
  }

  /**
   * The frames and the one that just ended, if any. The usual single frame gets a literal list, which takes less memory
   * than one that grew.
   */
  #dispatched(frames: Frame[] | undefined): Frame[] | undefined {
    const event = this.#event;
    const first = this.#data;
    this.#event = undefined;
    if (first === undefined) return frames;
    const data = this.#more === undefined ? first : [first, ...this.#more].join('\n');
    this.#data = undefined;
    this.#more = undefined;
    this.#dataLength = 0;
    const frame = event === undefined ? { data } : { event, data };
    if (frames === undefined) return [frame];
    frames.push(frame);
    return frames;
  }

  #guard(): void {
    if (this.#dataLength + this.#pendingLength > this.#maxFrameBytes)
      throw new FrameTooLarge(this.#maxFrameBytes);
  }
}

function standsAt(text: string, start: number, name: string): boolean {
  for (let index = 0; index < name.length; index++) {
    if (text.charCodeAt(start + index) !== name.charCodeAt(index)) return false;
  }
  return true;
}

/** Index of a field's value: one space after the name is not part of it. */
function afterName(text: string, end: number): number {
  return text.charCodeAt(end) === 32 ? end + 1 : end;
}

/** Writes one event. `data` must be a single line, as JSON.stringify makes it. */
export function writeSseFrame(data: string, event?: string): string {
  return event === undefined ? `data: ${data}\n\n` : `event: ${event}\ndata: ${data}\n\n`;
}

/**
 * Writes a comment, which every client skips: it opens a stream or keeps it alive. No blank line follows: some clients
 * take each blank line for the end of an event, and fail at an event without data.
 */
export function writeSseComment(text: string): string {
  return `: ${text}\n`;
}
