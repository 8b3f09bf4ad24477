import { type ErrorKind, GatewayError } from '../../ir/errors.ts';
import { isJsonObject, type JsonObject } from '../../kit/json/json.ts';
import { numberAt, textAt } from '../../kit/json/members.ts';
import type { UpstreamErrorInfo } from '../dialect.ts';
import { cleanCode, cleanMessage } from '../shared/answers/reported-failure.ts';

/** Says the type of an error where the body does not. */
const TYPE_HEADER = 'x-amzn-errortype';

/** What an upstream's error body says. */
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

/** Servers in front of the models write the member in other ways than they do. */
const MESSAGES = ['message', 'Message', 'originalMessage', 'errorMessage'] as const;

/** A type may stand behind its namespace, and before an address: `com.amazon.coral#Name:http://...`. */
function codeOf(type: string): string {
  return (type.split('#').at(-1) ?? '').split(':')[0] ?? '';
}

/** Kinds of failures by the names of exceptions; any other is the provider's own trouble. */
const KINDS: readonly (readonly [RegExp, ErrorKind])[] = [
  [/^throttling|^serviceQuota|tooManyRequests/i, 'rate-limited'],
  [/^serviceUnavailable|^modelNotReady/i, 'overloaded'],
  [/^modelTimeout/i, 'upstream-timeout'],
  [/^validation/i, 'invalid-request'],
  [/^resourceNotFound/i, 'not-found'],
];

/** Kinds by the status that the model's own server gave, for exceptions that pass on a failure of its. */
const KINDS_BY_STATUS: Readonly<Record<number, ErrorKind>> = {
  429: 'rate-limited',
  503: 'overloaded',
  529: 'upstream-overloaded',
};

/** More of a message is not looked at to see what it is. */
const LOOKED_AT = 4096;

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
  return kind === 'invalid-request' && TOO_LONG.test(message.slice(0, LOOKED_AT)) ? 'context-length' : kind;
}
