import { type ErrorKind, GatewayError } from '../../../ir/errors.ts';
import type { UpstreamErrorInfo } from '../../dialect.ts';

/** Kinds of failures by the upstreams' words; the first match counts. */
const KINDS: readonly (readonly [RegExp, ErrorKind])[] = [
  [/context_length|context_window|string_too_long/i, 'context-length'],
  [/\b429\b|rate.?limit|too.many.requests|quota/i, 'rate-limited'],
  [/\b529\b|overload|over capacity|slow_down|insufficient_system_resource/i, 'upstream-overloaded'],
];

/** A failure that an upstream reports inside a stream, or in a body with status 200. */
export function reportedFailure(info: UpstreamErrorInfo | undefined): GatewayError {
  if (info === undefined) return new GatewayError('upstream-unavailable', 'The provider reported an error');
  // A code is meant for machines; the message is searched only without one.
  const words = beginningOf(info.code ?? info.message);
  const kind = KINDS.find(([pattern]) => pattern.test(words))?.[1] ?? 'upstream-unavailable';
  return new GatewayError(kind, info.message, {
    ...(info.code !== undefined && { metadata: { provider_code: info.code } }),
  });
}

const ERROR_PAGE = /<(?:!doctype|html|body)\b/i;

/** An upstream's message as one line. It is not shortened here, because a secret that is cut is no longer found. */
export function cleanMessage(message: string): string {
  return ERROR_PAGE.test(beginningOf(message)) ? 'The provider sent an error page' : asLine(message);
}

/** An upstream's own error code; not shortened here either. */
export function cleanCode(code: string): string {
  return asLine(code);
}

/** Characters of a text that are searched: it may have millions. */
const MAX_SEARCHED_CHARACTERS = 4096;

function asLine(text: string): string {
  return text.length > MAX_SEARCHED_CHARACTERS ? text : text.replace(/[\p{Cc}\u2028\u2029\s]+/gu, ' ').trim();
}

/** The beginning of a text, as much of it as is searched. */
export function beginningOf(text: string): string {
  return text.slice(0, MAX_SEARCHED_CHARACTERS);
}
