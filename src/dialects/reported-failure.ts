import { type ErrorKind, GatewayError } from '../ir/errors.ts';
import type { UpstreamErrorInfo } from './dialect.ts';

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
  const words = info.code ?? info.message;
  const kind = KINDS.find(([pattern]) => pattern.test(words))?.[1] ?? 'upstream-unavailable';
  return new GatewayError(kind, info.message, {
    ...(info.code !== undefined && { metadata: { provider_code: info.code } }),
  });
}

const MAX_MESSAGE_LENGTH = 500;
const MAX_CODE_LENGTH = 64;

/** What an upstream says, as one short line of plain text. Secrets are removed later, where they are known. */
export function cleanMessage(message: string): string {
  const beginning = message.slice(0, MAX_MESSAGE_LENGTH * 4);
  if (/<(?:!doctype|html|body)\b/i.test(beginning)) return 'The provider sent an error page';
  const line = beginning.replace(/[\p{Cc}\u2028\u2029\s]+/gu, ' ').trim();
  return line.length <= MAX_MESSAGE_LENGTH ? line : `${line.slice(0, MAX_MESSAGE_LENGTH - 3)}...`;
}

/** An upstream's own word for an error. */
export function cleanCode(code: string): string {
  return cleanMessage(code).slice(0, MAX_CODE_LENGTH);
}
