import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '../kit/ids.ts';
import type { Caller } from '../ports/caller.ts';
import { CallerGone } from './caller-gone.ts';
import { Reply } from './reply.ts';
import { ServerTiming } from './server-timing.ts';

/** One request and its reply, from the first line to the last byte. */
export class Exchange {
  readonly request: IncomingMessage;
  readonly reply: Reply;
  readonly timing: ServerTiming;
  /** Epoch milliseconds. */
  readonly acceptedAtMs: number;
  /** Set once authenticated. */
  caller: Caller | undefined;
  /** True once the gateway has the request: from then on errors name the generation. */
  routed = false;
  readonly #token: string;
  readonly #invite: () => void;
  readonly #aborting = new AbortController();
  #isGeneration = false;

  constructor(
    request: IncomingMessage,
    response: ServerResponse,
    parts: {
      readonly clock: Clock;
      readonly token: string;
      readonly lingerMs: number;
      /** The caller sends its body only when told to (`Expect: 100-continue`). */
      readonly awaitsInvitation: boolean;
    },
  ) {
    this.request = request;
    this.acceptedAtMs = parts.clock.now();
    this.timing = new ServerTiming(parts.clock);
    this.#token = parts.token;
    this.#invite = parts.awaitsInvitation ? () => response.writeContinue() : () => {};
    this.reply = new Reply(request, response, () => this.#commonHeaders(), parts.lingerMs);
    // A write that comes after the end of the connection is no news: `close` has told it.
    response.on('error', () => {});
    response.on('close', () => {
      if (!response.writableFinished) this.abort(new CallerGone());
    });
  }

  /** Aborted when the caller goes away, a deadline passes or the server stops; the reason says which. */
  get signal(): AbortSignal {
    return this.#aborting.signal;
  }

  /** Only the first reason counts. */
  abort(reason: Error): void {
    this.#aborting.abort(reason);
  }

  /** The body is wanted: tells a caller that waits to hear so. */
  invite(): void {
    this.#invite();
  }

  /** The request is for a generation route: its reply carries the headers of one. */
  becomeGeneration(): void {
    this.#isGeneration = true;
  }

  /** `gen-<unix seconds>-<20 random>` on generation routes. */
  get requestId(): string {
    const seconds = Math.floor(this.acceptedAtMs / 1000);
    return `${this.#isGeneration ? 'gen' : 'req'}-${seconds}-${this.#token}`;
  }

  #commonHeaders(): Record<string, string> {
    const requestId = this.requestId;
    const always = { 'request-id': requestId, 'x-request-id': requestId };
    return this.#isGeneration
      ? { ...always, 'X-Generation-Id': requestId, 'Server-Timing': this.timing.header() }
      : always;
  }
}
