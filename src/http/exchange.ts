import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '../kit/ids.ts';
import { LightAbortController } from '../kit/light-abort.ts';
import type { Caller } from '../ports/caller.ts';
import { CallerGone } from './caller-gone.ts';
import { declaredLength } from './declared-length.ts';
import { Reply, type ReplyOwner } from './reply.ts';
import { ServerTiming } from './server-timing.ts';

/** Bytes of a body that are taken in one piece. */
const MOST_TAKEN = 64 * 1024;

/** One request and its reply, from the first line to the last byte. */
export class Exchange implements ReplyOwner {
  readonly request: IncomingMessage;
  readonly reply: Reply;
  readonly timing: ServerTiming;
  /** Epoch milliseconds. */
  readonly acceptedAtMs: number;
  /** Set once authenticated. */
  caller: Caller | undefined;
  /** True once the gateway has the request: from then on errors name the generation. */
  routed = false;
  readonly #response: ServerResponse;
  readonly #token: string;
  readonly #awaitsInvitation: boolean;
  readonly #aborting = new LightAbortController();
  #isGeneration = false;
  #hasBodyTaken = false;
  #requestId: string | undefined;

  constructor(
    request: IncomingMessage,
    response: ServerResponse,
    parts: {
      readonly clock: Clock;
      readonly token: string;
      readonly lingerMs: number;
      /** The caller sends its body only when told to (`Expect: 100-continue`). */
      readonly awaitsInvitation: boolean;
      /** Told when the reply has left or the connection is gone. */
      readonly closed: (exchange: Exchange) => void;
    },
  ) {
    this.request = request;
    this.acceptedAtMs = parts.clock.now();
    this.timing = new ServerTiming(parts.clock);
    this.#response = response;
    this.#token = parts.token;
    this.#awaitsInvitation = parts.awaitsInvitation;
    this.reply = new Reply(request, response, this, parts.lingerMs);
    response.on('error', ignoreLateWrite);
    response.on('close', () => {
      if (!response.writableFinished) this.abort(new CallerGone());
      parts.closed(this);
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
    if (this.#awaitsInvitation) this.#response.writeContinue();
  }

  /**
   * The body, where all of it is here already, as small ones are that came with their heads: nothing has to be waited
   * for, and no limit passes. Undefined where it is still to come, or may be.
   */
  takeBody(): Buffer | undefined {
    const { request } = this;
    const length = declaredLength(request);
    if (length === 0 || length > MOST_TAKEN || request.readableLength !== length) return undefined;
    this.#hasBodyTaken = true;
    const body = request.read() as Buffer;
    // Nobody reads on, so the end would not be noticed.
    request.resume();
    return body;
  }

  get hasBodyTaken(): boolean {
    return this.#hasBodyTaken;
  }

  /** The request is for a generation route: its reply carries the headers of one. */
  becomeGeneration(): void {
    this.#isGeneration = true;
    this.#requestId = undefined;
  }

  /** `gen-<unix seconds>-<20 random>` on generation routes. */
  get requestId(): string {
    this.#requestId ??= `${this.#isGeneration ? 'gen' : 'req'}-${Math.floor(this.acceptedAtMs / 1000)}-${this.#token}`;
    return this.#requestId;
  }

  addCommonHeaders(lines: string[]): void {
    const requestId = this.requestId;
    lines.push('request-id', requestId, 'x-request-id', requestId);
    if (this.#isGeneration) lines.push('X-Generation-Id', requestId, 'Server-Timing', this.timing.header());
  }
}

/** A write that comes after the end of the connection is no news: `close` has told it. */
function ignoreLateWrite(): void {}
