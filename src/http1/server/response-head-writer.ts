import { STATUS_CODES } from 'node:http';
import type { Clock } from '../../kit/time/clock.ts';
import { HttpDate } from './http-date.ts';

/** What must not be in a line that we write: it could end it. */
const UNFIT = /[^\t\x20-\x7e]/g;

/** A header of an answer. What does not fit into a line becomes a question mark. */
export function headerLine(name: string, value: string): string {
  return `${name}: ${value.replace(UNFIT, '?')}\r\n`;
}

/** What some statuses of ours are called that no standard names. */
const UNNAMED = 'unknown';

/** Writes the heads of answers. One for all connections of a server. */
export class ResponseHeads {
  readonly #clock: Clock;
  readonly #date = new HttpDate();
  readonly #staying: string;

  /** `idleMs`: how long a connection is kept, as callers are told. */
  constructor(clock: Clock, idleMs: number) {
    this.#clock = clock;
    this.#staying = `Connection: keep-alive\r\nKeep-Alive: timeout=${Math.floor(idleMs / 1_000)}\r\n`;
  }

  /** `lines`: all headers but those about the connection, each with its line break. */
  head(status: number, lines: string, keepsAlive: boolean): string {
    const connection = keepsAlive ? this.#staying : 'Connection: close\r\n';
    const date = this.#date.at(this.#clock.now());
    return `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? UNNAMED}\r\n${lines}Date: ${date}\r\n${connection}\r\n`;
  }
}
