import { type ErrorKind, GatewayError } from '../../ir/errors.ts';
import { isJsonObject, type JsonObject } from '../../kit/json/json.ts';
import { numberAt, textAt } from '../../kit/json/members.ts';
import type { UpstreamErrorInfo } from '../dialect.ts';
import { beginningOf, cleanCode, cleanMessage } from '../shared/answers/reported-failure.ts';

/** Header with the type of an error, if the body has none. */
const TYPE_HEADER = 'x-amzn-errortype';

export function readError(
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): UpstreamErrorInfo | undefined {
  if (!isJsonObject(body)) return undefined;
  const message = MESSAGES.map((name) => textAt(body, name)).find(
    (text) => text !== undefined && text.trim() !== '',
  );
  if (message === undefined) return undefined;
  const code = codeOf(textAt(body, '__type') ?? textAt(body, 'code') ?? headers[TYPE_HEADER] ?? '');
  return { message: cleanMessage(message), ...(code !== '' && { code: cleanCode(code) }) };
}

/** Names of the message member: servers in front of the models use other names. */
const MESSAGES = ['message', 'Message', 'originalMessage', 'errorMessage'] as const;

/** The name in a type with a namespace or an address: `com.amazon.coral#Name:http://...`. */
function codeOf(type: string): string {
  return (type.split('#').at(-1) ?? '').split(':')[0] ?? '';
}

/** Kinds of failures by exception name; any other is a fault of the provider. */
const KINDS: readonly (readonly [RegExp, ErrorKind])[] = [
  [/^throttling|^serviceQuota|tooManyRequests/i, 'rate-limited'],
  [/^serviceUnavailable|^modelNotReady/i, 'overloaded'],
  [/^modelTimeout/i, 'upstream-timeout'],
  [/^validation/i, 'invalid-request'],
  [/^resourceNotFound/i, 'not-found'],
];

/** Kinds by the status of the model's own server, for exceptions that pass its failure on. */
const KINDS_BY_STATUS: Readonly<Record<number, ErrorKind>> = {
  429: 'rate-limited',
  503: 'overloaded',
  529: 'upstream-overloaded',
};

const TOO_LONG =
  /too long|too many (?:input )?tokens|context (?:length|window|limit)|maximum (?:number of )?tokens/i;

/** A failure that an upstream reports inside a stream or a body with status 200. `name`: the exception, if named. */
export function failureOf(body: JsonObject, name?: string): GatewayError {
  const info = readError(body);
  const code = name === undefined ? info?.code : cleanCode(codeOf(name));
  const message = info?.message ?? 'The provider reported an error';
  return new GatewayError(kindOf(code ?? '', message, numberAt(body, 'originalStatusCode')), message, {
    ...(code !== undefined && { metadata: { provider_code: code } }),
  });
}

function kindOf(code: string, message: string, originalStatus: number | undefined): ErrorKind {
  const kind =
    KINDS.find(([pattern]) => pattern.test(code))?.[1] ??
    KINDS_BY_STATUS[originalStatus ?? 0] ??
    'upstream-unavailable';
  return kind === 'invalid-request' && TOO_LONG.test(beginningOf(message)) ? 'context-length' : kind;
}
