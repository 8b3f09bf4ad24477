import type { EncodeError } from '../../dialects/shared/answers/error-envelope.ts';
import type { ResponseHeadWriter } from '../../http1/server/response-head-writer.ts';
import { errorHeaders } from './error-reply.ts';
import { jsonLines } from './reply.ts';
import { unavailable } from './unavailable.ts';

/** One for all: a thousand of them may be told so in a second. */
export const BUSY = unavailable('Service temporarily unavailable: more requests come than can be served');
export const BUSY_HEADERS = errorHeaders(BUSY);

/** An answer in one format, and its headers but for those that differ from one to the next. */
interface BusyAnswer {
  readonly body: string;
  readonly lines: string;
}

/** What those are told whom there is no time for, in each format: as if `BUSY` had been thrown, but for less. */
export class BusyAnswers {
  readonly #vendor: string;
  readonly #answers = new Map<EncodeError, BusyAnswer>();

  constructor(vendor: string) {
    this.#vendor = vendor;
  }

  body(encodeError: EncodeError): string {
    return this.#answer(encodeError).body;
  }

  /**
   * All of an answer on a connection that is kept. `ownLines`: the headers that are its own, each with its line break.
   */
  text(encodeError: EncodeError, ownLines: string, heads: ResponseHeadWriter): string {
    const { body, lines } = this.#answer(encodeError);
    return heads.head(BUSY.status, lines + ownLines, true) + body;
  }

  #answer(encodeError: EncodeError): BusyAnswer {
    const known = this.#answers.get(encodeError);
    if (known !== undefined) return known;
    const body = JSON.stringify(encodeError(BUSY, { vendor: this.#vendor, generationId: null }));
    const answer = { body, lines: jsonLines(Buffer.byteLength(body), BUSY_HEADERS) };
    this.#answers.set(encodeError, answer);
    return answer;
  }
}
