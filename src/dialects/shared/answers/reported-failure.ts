import { type ErrorKind, GatewayError } from '../../../ir/errors.ts';
import type { UpstreamErrorInfo } from '../../dialect.ts';

/** Kinds of failures by the words upstreams have for them; the first pattern that fits decides. */
const KINDS: readonly (readonly [RegExp, ErrorKind])[] = [
  [/context_length|context_window|string_too_long/i, 'context-length'],
  [/\b429\b|rate.?limit|too.many.requests|quota/i, 'rate-limited'],
  [/\b529\b|overload|over capacity|slow_down|insufficient_system_resource/i, 'upstream-overloaded'],
];

/** A failure that an upstream reports inside a stream, or in a body with status 200. */
export function reportedFailure(info: UpstreamErrorInfo | undefined): GatewayError {
  if (info === undefined) return new GatewayError('upstream-unavailable', 'The provider reported an error');
  // A code is meant for machines; only without one are the words of the message looked at.
  const words = beginningOf(info.code ?? info.message);
  const kind = KINDS.find(([pattern]) => pattern.test(words))?.[1] ?? 'upstream-unavailable';
  return new GatewayError(kind, info.message, {
    ...(info.code !== undefined && { metadata: { provider_code: info.code } }),
  });
}

const ERROR_PAGE = /<(?:!doctype|html|body)\b/i;

/** What an upstream says, as one line. It is cut where its secrets are known: a secret that is cut is not found any more. */
export function cleanMessage(message: string): string {
  return ERROR_PAGE.test(beginningOf(message)) ? 'The provider sent an error page' : asLine(message);
}

/** An upstream's own word for an error; cut where its secrets are known. */
export function cleanCode(code: string): string {
  return asLine(code);
}

/** Of a text that is longer, no more is looked at than this: it may have millions of characters. */
const LOOKED_AT = 4096;

function asLine(text: string): string {
  return text.length > LOOKED_AT ? text : text.replace(/[\p{Cc}\u2028\u2029\s]+/gu, ' ').trim();
}

function beginningOf(text: string): string {
  return text.slice(0, LOOKED_AT);
}
