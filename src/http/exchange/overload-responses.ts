import type { EncodeError } from '../../dialects/shared/answers/error-envelope.ts';
import type { ResponseHeadWriter } from '../../net/http1/server/response-head-writer.ts';
import { errorHeaders } from './error-reply.ts';
import { jsonHeaderLines } from './reply.ts';
import { unavailable } from './unavailable.ts';

/** Made once: during overload thousands of requests a second get it. */
export const OVERLOADED = unavailable(
  'Service temporarily unavailable: more requests come than can be served',
);
export const OVERLOAD_HEADERS = errorHeaders(OVERLOADED);

/** The response in one format: its body, and the headers that are the same for all requests. */
interface OverloadResponse {
  readonly body: string;
  readonly lines: string;
}

/** The responses to requests that are turned away, one per format: the same bytes as if `OVERLOADED` was thrown. */
export class OverloadResponses {
  readonly #vendor: string;
  readonly #answers = new Map<EncodeError, OverloadResponse>();

  constructor(vendor: string) {
    this.#vendor = vendor;
  }

  body(encodeError: EncodeError): string {
    return this.#answer(encodeError).body;
  }

  /** Head and body, on a connection that is kept. `ownLines`: headers of this request, each with its line break. */
  text(encodeError: EncodeError, ownLines: string, heads: ResponseHeadWriter): string {
    const { body, lines } = this.#answer(encodeError);
    return heads.head(OVERLOADED.status, lines + ownLines, true) + body;
  }

  #answer(encodeError: EncodeError): OverloadResponse {
    const known = this.#answers.get(encodeError);
    if (known !== undefined) return known;
    const body = JSON.stringify(encodeError(OVERLOADED, { vendor: this.#vendor, generationId: null }));
    const answer = { body, lines: jsonHeaderLines(Buffer.byteLength(body), OVERLOAD_HEADERS) };
    this.#answers.set(encodeError, answer);
    return answer;
  }
}
