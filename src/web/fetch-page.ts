import { boundedText } from '../kit/json/bounded-json.ts';
import type { PlaceOwner } from '../kit/loop/fair-places.ts';
import type { Egress } from '../net/egress/egress.ts';
import { EgressProblem } from '../net/egress/egress-problem.ts';
import { type DomainList, domainProblem } from './domains.ts';
import { textOf, Unreadable } from './page-text.ts';
import { PdfProblem } from './pdf-text.ts';
import type { WebLimits } from './web-settings.ts';

export type FetchedPage =
  | {
      readonly url: string;
      readonly title: string;
      readonly content: string;
      readonly status: 'completed';
      readonly retrieved_at: string;
    }
  | {
      readonly url: string;
      readonly status: 'failed';
      readonly error: string;
      /** Error code of the messages format; absent = the page could not be had. */
      readonly code?: string;
    };

export interface FetchWish {
  readonly allowed: DomainList;
  readonly blocked: DomainList;
  /** Undefined: no limit besides that of characters. */
  readonly maxContentTokens: number | undefined;
}

export interface FetchDependencies {
  readonly egress: Egress;
  readonly limits: WebLimits;
  readonly signal: AbortSignal;
  /** Name in the `User-Agent` header. */
  readonly vendor: string;
  /** The caller's account: pages of one account do not keep those of others waiting. */
  readonly owner: PlaceOwner;
  now(): number;
}

const MAX_REDIRECTS = 5;

const HEADERS = {
  accept: 'text/html, application/xhtml+xml, text/plain, application/pdf;q=0.9, */*;q=0.5',
  'accept-encoding': 'gzip, br',
};

/** A page, and the status of the last reply; undefined = there was none. */
export interface PageVisit {
  readonly page: FetchedPage;
  readonly httpStatus: number | undefined;
}

/** Fetches a page and reads its text. Rejects only with the signal's reason: failures are results for the model. */
export async function visitPage(
  url: string,
  wish: FetchWish,
  dependencies: FetchDependencies,
): Promise<PageVisit> {
  let httpStatus: number | undefined;
  const page = await fetchPage(url, wish, dependencies, (status) => {
    httpStatus = status;
  });
  return { page, httpStatus };
}

/** `visitPage` without the status. `replied`: called with the status. */
export async function fetchPage(
  url: string,
  wish: FetchWish,
  dependencies: FetchDependencies,
  replied: (status: number) => void = () => {},
): Promise<FetchedPage> {
  const { egress, limits, signal, now, owner } = dependencies;
  try {
    const reply = await egress.fetch(url, {
      headers: { ...HEADERS, 'user-agent': `Mozilla/5.0 (compatible; ${dependencies.vendor})` },
      limits: { totalMs: limits.fetchMs, maxBytes: limits.readBytes, maxRedirects: MAX_REDIRECTS },
      signal,
      visitProblem: (visited) => domainProblem(visited, wish.allowed, wish.blocked),
    });
    replied(reply.status);
    if (reply.status < 200 || reply.status > 299)
      return failed(url, `the server answered with status ${reply.status}`);
    const { title, text } = await textOf(reply, { signal, owner, maxCharacters: limits.resultCharacters });
    const bounded = boundedText(text, limits.resultCharacters);
    return {
      url: reply.url,
      title: boundedText(title, MAX_TITLE_CHARACTERS),
      content: wish.maxContentTokens === undefined ? bounded : withinTokens(bounded, wish.maxContentTokens),
      status: 'completed',
      retrieved_at: new Date(now()).toISOString(),
    };
  } catch (problem) {
    if (problem instanceof EgressProblem && problem.reason === 'refused')
      return { ...failed(url, problem.message), code: NOT_ALLOWED };
    if (problem instanceof EgressProblem || problem instanceof Unreadable)
      return failed(url, problem.message);
    if (problem instanceof PdfProblem) return failed(url, `the file ${problem.message}`);
    throw problem;
  }
}

const MAX_TITLE_CHARACTERS = 300;

/** The code for addresses that the caller or the operator does not allow. */
const NOT_ALLOWED = 'url_not_allowed';

export function failed(url: string, error: string): Extract<FetchedPage, { status: 'failed' }> {
  return { url, status: 'failed', error };
}

/** Tokens of a character on average, by tokenizers of today: ASCII, and everything else. */
const ASCII_TOKENS = 0.25;
const OTHER_TOKENS = 1;

/** The beginning of a text that has about so many tokens, and rather fewer. */
export function withinTokens(text: string, maxTokens: number): string {
  let tokens = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    tokens += code < 0x80 ? ASCII_TOKENS : OTHER_TOKENS;
    if (tokens > maxTokens) return text.slice(0, isHighSurrogate(text.charCodeAt(at - 1)) ? at - 1 : at);
  }
  return text;
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}
