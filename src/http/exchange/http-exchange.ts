import { requestIdOf } from '../../kit/ids.ts';
import { ExactNumbers } from '../../kit/json/exact-numbers.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { LightAbortController } from '../../kit/loop/light-abort.ts';
import type { Clock } from '../../kit/time/clock.ts';
import type { InboundRequest } from '../../net/http1/server/inbound-request.ts';
import type { OutboundResponse } from '../../net/http1/server/outbound-response.ts';
import { headerLine, type ResponseHeadWriter } from '../../net/http1/server/response-head-writer.ts';
import type { Caller } from '../../ports/tenancy/caller.ts';
import { Reply, type ReplyOwner } from './reply.ts';
import { ServerTiming } from './server-timing.ts';

export interface ExchangeDependencies {
  readonly clock: Clock;
  readonly heads: ResponseHeadWriter;
  /** Called when the reply is flushed or the connection is closed. */
  readonly closed: (exchange: HttpExchange) => void;
}

/** The reason of an abort because the caller has closed its connection. */
export class CallerGone extends Error {
  constructor() {
    super('The caller went away');
    this.name = 'CallerGone';
  }
}

/** One request and its reply, from the first line to the last byte. */
export class HttpExchange implements ReplyOwner {
  readonly request: InboundRequest;
  readonly reply: Reply;
  readonly timing: ServerTiming;
  readonly acceptedAtMs: number;
  /** Set once authenticated. */
  caller: Caller | undefined;
  /** A body that is not valid, for the record of the refusal. */
  refusedBody: JsonObject | undefined;
  /** Long numbers of the body and of the answer. */
  readonly exactNumbers = new ExactNumbers();
  /** True once the gateway has the request: from then on errors name the generation. */
  routed = false;
  readonly #token: string;
  readonly #aborting = new LightAbortController();
  #isGeneration = false;
  #requestId: string | undefined;
  /** Headers that were added to the reply, each with its line break. */
  #added = '';

  constructor(
    request: InboundRequest,
    answer: OutboundResponse,
    token: string,
    dependencies: ExchangeDependencies,
  ) {
    this.request = request;
    this.acceptedAtMs = dependencies.clock.now();
    this.timing = new ServerTiming(dependencies.clock);
    this.#token = token;
    this.reply = new Reply(request, answer, this, dependencies.heads);
    answer.whenClosed = (isFlushed) => {
      if (!isFlushed) this.abort(new CallerGone());
      dependencies.closed(this);
    };
  }

  /** Aborted when the caller goes away, a deadline passes or the server stops; the reason says which. */
  get signal(): AbortSignal {
    return this.#aborting.signal;
  }

  /** Only the first reason counts. */
  abort(reason: Error): void {
    this.#aborting.abort(reason);
  }

  /** Sends `100 Continue` to a caller that waits for it before it sends the body. */
  sendContinue(): void {
    if (this.request.framing.expectsContinue) this.reply.sendContinue();
  }

  /** The request is for a generation route: its reply carries the headers of one. */
  becomeGeneration(): void {
    this.#isGeneration = true;
    this.#requestId = undefined;
  }

  get isGeneration(): boolean {
    return this.#isGeneration;
  }

  /** `gen-<unix seconds>-<20 random>` on generation routes. */
  get requestId(): string {
    this.#requestId ??= requestIdOf(this.#isGeneration ? 'gen' : 'req', this.acceptedAtMs, this.#token);
    return this.#requestId;
  }

  /** Adds a header to the reply; to no effect once its head is written. */
  addHeader(name: string, value: string): void {
    this.#added += headerLine(name, value);
  }

  commonHeaders(): string {
    const lines = this.#isGeneration ? generationLines(this.requestId, this.timing) : idLines(this.requestId);
    return this.#added === '' ? lines : `${lines}${this.#added}`;
  }
}

/** The headers that all replies of generation routes have, each with its line break. */
export function generationLines(requestId: string, timing: ServerTiming): string {
  return `${idLines(requestId)}X-Generation-Id: ${requestId}\r\nServer-Timing: ${timing.header()}\r\n`;
}

function idLines(requestId: string): string {
  return `request-id: ${requestId}\r\nx-request-id: ${requestId}\r\n`;
}
