import { STATUS_CODES } from 'node:http';
import type { Clock } from '../../../kit/time/clock.ts';

/** Characters that could end a header line, or that not every client accepts. */
const NOT_IN_HEADER = /[^\t\x20-\x7e]/g;

/** A header with its line break. Characters that must not be in it become question marks. */
export function headerLine(name: string, value: string): string {
  return `${name}: ${value.replace(NOT_IN_HEADER, '?')}\r\n`;
}

/** Reason phrase of statuses that no standard names. */
const UNNAMED = 'unknown';

/** Writes the heads of responses. One for all connections of a server. */
export class ResponseHeadWriter {
  readonly #clock: Clock;
  readonly #date = new HttpDate();
  readonly #keepAliveLines: string;

  /** `idleMs`: how long an idle connection is kept, as `Keep-Alive` announces it. */
  constructor(clock: Clock, idleMs: number) {
    this.#clock = clock;
    this.#keepAliveLines = `Connection: keep-alive\r\nKeep-Alive: timeout=${Math.floor(idleMs / 1_000)}\r\n`;
  }

  /** `lines`: all headers but `Date` and those about the connection, each with its line break. */
  head(status: number, lines: string, keepsAlive: boolean): string {
    const connection = keepsAlive ? this.#keepAliveLines : 'Connection: close\r\n';
    const date = this.#date.at(this.#clock.now());
    return `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? UNNAMED}\r\n${lines}Date: ${date}\r\n${connection}\r\n`;
  }
}

const SECOND_MS = 1_000;

/** The value of `Date`, formatted once a second. */
class HttpDate {
  #second = Number.NaN;
  #text = '';

  at(nowMs: number): string {
    const second = Math.floor(nowMs / SECOND_MS);
    if (second !== this.#second) {
      this.#second = second;
      this.#text = new Date(nowMs).toUTCString();
    }
    return this.#text;
  }
}
