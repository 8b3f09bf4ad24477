import type { Provider } from '../../catalog/catalog.ts';
import type { UpstreamErrorInfo } from '../../dialects/dialect.ts';
import { BrokenAnswer } from '../../dialects/shared/answers/broken-answers.ts';
import { reportedFailure } from '../../dialects/shared/answers/reported-failure.ts';
import { ERROR_TABLE, type ErrorKind, type GatewayError, toGatewayError } from '../../ir/errors.ts';
import { type Event, terminalOf } from '../../ir/events.ts';
import type { Overflow } from '../../ir/overflow.ts';
import { boundedText } from '../../kit/json/bounded-json.ts';
import { type JsonObject, readJson } from '../../kit/json/json.ts';
import { textAt } from '../../kit/json/members.ts';
import { retryAfterOf } from '../../kit/net/retry-after.ts';
import { type Confidential, redact, redactStrings } from '../../kit/secrets/redact.ts';
import { TransportProblem, type TransportReason } from '../../net/http1/client/transport-problem.ts';
import { StaleConnection } from '../../net/transport/transport-call.ts';
import { type LostAnswer, UpstreamFailure } from '../upstream.ts';
import { overflowOf } from './overflow-of.ts';

/** The provider that failed, and what the message must not reveal. */
export interface FailureScope {
  readonly provider: Pick<Provider, 'name'>;
  readonly confidential: Confidential;
  /** Reads an error body of the upstream's dialect. */
  readonly readError: (
    body: unknown,
    headers?: Readonly<Record<string, string>>,
  ) => UpstreamErrorInfo | undefined;
  /** The credential is a BYOK credential. */
  readonly isByok?: boolean;
  /** Tokens that the endpoint takes; absent = unknown. */
  readonly contextLength?: number | undefined;
  readonly now: () => number;
}

/** A reply with a status outside 2xx. */
export interface RefusedReply {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  /** The beginning of the body. */
  readonly body: string;
}

/** The kind of a failure for the caller, and its cause in a few words. */
interface Verdict {
  readonly kind: ErrorKind;
  readonly cause: string;
}

const REFUSED_CREDENTIAL: Verdict = {
  kind: 'upstream-unavailable',
  cause: "the provider refused the gateway's credential",
};

const REFUSED_BYOK_CREDENTIAL: Verdict = {
  kind: 'upstream-unavailable',
  cause: "the provider refused the account's BYOK credential",
};

/** Verdicts by the upstream's status; what is not here is decided by its class. */
const STATUS_VERDICTS: Readonly<Record<number, Verdict>> = {
  400: { kind: 'invalid-request', cause: 'the provider rejected the request' },
  401: REFUSED_CREDENTIAL,
  402: { kind: 'upstream-unavailable', cause: 'the provider asks for payment' },
  403: REFUSED_CREDENTIAL,
  404: { kind: 'not-found', cause: 'the provider does not know the model or the path' },
  408: { kind: 'upstream-timeout', cause: 'the provider timed out' },
  413: { kind: 'payload-too-large', cause: 'the provider takes smaller requests only' },
  422: { kind: 'unprocessable', cause: 'the provider cannot process the request' },
  429: { kind: 'rate-limited', cause: 'the provider limits requests' },
  503: { kind: 'overloaded', cause: 'the provider is unavailable' },
  504: { kind: 'upstream-timeout', cause: 'a server behind the provider timed out' },
  524: { kind: 'upstream-timeout', cause: 'a server behind the provider timed out' },
  529: { kind: 'upstream-overloaded', cause: 'the provider is overloaded' },
};

const CLASS_VERDICTS: Readonly<Record<number, Verdict>> = {
  3: { kind: 'upstream-unavailable', cause: 'the provider answered with a redirect' },
  4: { kind: 'upstream-unavailable', cause: 'the provider refused the request' },
  5: { kind: 'upstream-unavailable', cause: 'the provider failed' },
};

const UNKNOWN_VERDICT: Verdict = { kind: 'upstream-unavailable', cause: 'unexpected status' };
const OVERLOADED: Verdict = { kind: 'upstream-overloaded', cause: 'the provider is overloaded' };
const FLAGGED: Verdict = { kind: 'permission', cause: 'the provider flagged the request' };
const CONTEXT_TOO_LONG: Verdict = { kind: 'context-length', cause: 'the prompt is too long for the model' };

/** Kinds whose message is the upstream's own: the caller can act on it. */
const UPSTREAM_MESSAGE_KINDS: ReadonlySet<ErrorKind> = new Set([
  'invalid-request',
  'context-length',
  'content-policy',
  'permission',
  'not-found',
  'payload-too-large',
  'unprocessable',
]);

/** First half of the message of the other kinds. */
const DEFAULT_MESSAGES: Readonly<Partial<Record<ErrorKind, string>>> = {
  'invalid-request': 'Invalid request parameters',
  'context-length': 'Invalid request parameters',
  'content-policy': 'Invalid request parameters',
  permission: 'The request was refused',
  'not-found': 'Resource not found',
  'payload-too-large': 'Request payload too large',
  unprocessable: 'Invalid argument',
  'rate-limited': 'Rate limit exceeded',
  overloaded: 'Service temporarily unavailable',
  'upstream-timeout': 'Request timed out. Please try again later.',
};
const PROVIDER_ERROR = 'Provider returned error';

const PROBLEM_KINDS: Readonly<Record<TransportReason, ErrorKind>> = {
  connect: 'upstream-unavailable',
  reset: 'upstream-unavailable',
  timeout: 'upstream-timeout',
  total: 'upstream-timeout',
  'too-large': 'upstream-unavailable',
  encoding: 'upstream-unavailable',
};

/** Kinds that a decoder may give to an error event; any other would blame the caller for the gateway's own account. */
const EVENT_KINDS: ReadonlySet<ErrorKind> = new Set<ErrorKind>([
  ...[...UPSTREAM_MESSAGE_KINDS].filter((kind) => kind !== 'permission'),
  'rate-limited',
  'overloaded',
  'upstream-overloaded',
  'upstream-timeout',
  'upstream-unavailable',
]);

const CONTEXT_CODE = /context_length|context_window|prompt_too_long/i;
const CONTEXT_MESSAGE =
  /context[ _-](?:length|window|size)|(?:prompt|input|request) (?:is |are )?too (?:long|many tokens)|too many (?:input |prompt )?tokens|maximum (?:number of )?(?:input |prompt )?tokens|exceeds? the (?:maximum|model'?s?) [\w ]{0,40}tokens/i;
const OVERLOAD = /overloaded/i;
/** Words of refusals that concern the content of the request. */
const FLAGGED_WORDS = /moderation|flagged|content[ _-]?(?:policy|filter)|safety system|usage polic/i;
/** Some upstreams call a bad credential a bad request. */
const CREDENTIAL_CODE = /^API_KEY_INVALID$/;

/** Longest `Retry-After` that is passed on, seconds. */
const MAX_RETRY_AFTER_SECONDS = 300;
const MAX_RAW_BYTES = 2048;
/** Bytes by which a cut text may be shorter than its limit: a character is not divided. */
const MAX_CUT_BYTES = 8;
/** The end of a message that was cut. */
export const ELLIPSIS = '…';
const MAX_MESSAGE_LENGTH = 600;
const MAX_WORD_LENGTH = 128;
const MAX_PROVIDER_MESSAGE_CHARACTERS = 200;
/** Characters of an upstream's message that are searched for the kind of failure. */
const MAX_MATCHED_LENGTH = 4096;

/** The failure behind a status outside 2xx. */
export function failureOfReply(reply: RefusedReply, scope: FailureScope): UpstreamFailure {
  const info = readInfo(reply.body, scope, reply.headers);
  const verdict = verdictOf(reply.status, info);
  const own = info === undefined ? '' : cleaned(info.message, scope);
  const shown = scope.isByok && verdict === REFUSED_CREDENTIAL ? REFUSED_BYOK_CREDENTIAL : verdict;
  const metadata = metadataOf(verdict.kind, scope, { code: info?.code, raw: reply.body });
  return new UpstreamFailure(verdict.kind, messageOf(shown, own), reply.status, {
    metadata,
    retryAfterSeconds: capped(retryAfterOf(reply.headers, scope.now()) ?? info?.retryAfterSeconds),
    lostBy: lostByKind(verdict.kind),
    overflow: overflowIn(verdict.kind, own, scope),
    plainMessage: messageOf(shown, ''),
    providerMessage: mayQuote(verdict) ? undefined : providerMessageOf(own, metadata),
  });
}

/** True if the provider refuses the request: its words may quote it. */
function mayQuote(verdict: Verdict): boolean {
  return UPSTREAM_MESSAGE_KINDS.has(verdict.kind) || verdict === CLASS_VERDICTS[4];
}

/** What a provider said of a fault of its own: its message, or else the beginning of its body. */
function providerMessageOf(own: string, metadata: JsonObject): string | undefined {
  const raw = textAt(metadata, 'raw');
  return messageIn(raw, own) ?? (raw === undefined ? undefined : short(raw));
}

/** The message if it stands in `raw` too: guardrails read that, and must have seen all that a record keeps. */
function messageIn(raw: string | undefined, own: string): string | undefined {
  const message = short(own);
  if (raw === undefined || message === '') return undefined;
  return raw.includes(message) || raw.includes(jsonText(message)) ? message : undefined;
}

function short(text: string): string {
  return boundedText(text, MAX_PROVIDER_MESSAGE_CHARACTERS);
}

/** The text as it stands between the quotation marks of JSON. */
function jsonText(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** The failure of an exchange that broke. `status`: what the upstream had answered; 0 when nothing. */
export function failureOfProblem(
  problem: TransportProblem,
  status: number,
  scope: FailureScope,
): UpstreamFailure {
  const verdict: Verdict = { kind: PROBLEM_KINDS[problem.reason], cause: problem.message };
  return new UpstreamFailure(verdict.kind, messageOf(verdict, ''), status, {
    metadata: metadataOf(verdict.kind, scope, {}),
    isCutByUs: problem.reason === 'total',
    isStale: problem instanceof StaleConnection,
    isConnection: problem.isUnsent,
    lostBy: lostBy(problem),
    errno: problem.systemCode,
  });
}

/** How the problem lost an answer that the upstream may have finished; undefined = the request was not sent. */
function lostBy(problem: TransportProblem): LostAnswer | undefined {
  if (problem instanceof StaleConnection || problem.isUnsent) return undefined;
  return problem.reason === 'timeout' || problem.reason === 'total' ? 'time-limit' : 'broken-off';
}

/** A server behind the provider, or the provider itself, gave the answer up: its model may go on and be billed. */
function lostByKind(kind: ErrorKind): LostAnswer | undefined {
  return kind === 'upstream-timeout' ? 'time-limit' : undefined;
}

/** The terminal event of an incomplete answer: the reason of the abort, or the failure that broke it. */
export function brokenOff(
  thrown: unknown,
  {
    signal,
    status,
    scope,
  }: { readonly signal: AbortSignal; readonly status: number; readonly scope: FailureScope },
): Event {
  if (signal.aborted) return { type: 'failure', error: toGatewayError(signal.reason) };
  const isProblem = thrown instanceof TransportProblem;
  return {
    type: 'failure',
    error: isProblem ? failureOfProblem(thrown, status, scope) : toGatewayError(thrown),
  };
}

/** The failure of an upstream that said 2xx and sent no answer. `lost`: it may have sent one that we refuse to read. */
export function failureOfBody(
  cause: string,
  status: number,
  body: string,
  scope: FailureScope,
  lost?: LostAnswer,
): UpstreamFailure {
  const info = readInfo(body, scope);
  const said = info === undefined ? undefined : reportedFailure(info).kind;
  const verdict: Verdict = {
    kind: said !== undefined && EVENT_KINDS.has(said) ? said : 'upstream-unavailable',
    cause,
  };
  const metadata = metadataOf(verdict.kind, scope, { code: info?.code, raw: body });
  const own =
    info === undefined || UPSTREAM_MESSAGE_KINDS.has(verdict.kind) ? '' : cleaned(info.message, scope);
  return new UpstreamFailure(verdict.kind, messageOf(verdict, ''), status, {
    metadata,
    lostBy: lost ?? lostByKind(verdict.kind),
    // Its body may hold the beginning of an answer.
    providerMessage: messageIn(textAt(metadata, 'raw'), own),
  });
}

/** The failure behind an error that a decoder read from the answer. */
export function failureOfEvent(error: GatewayError, status: number, scope: FailureScope): UpstreamFailure {
  const kind = EVENT_KINDS.has(error.kind) ? error.kind : 'upstream-unavailable';
  const own = cleaned(error.message, scope);
  const cause = own === '' ? 'the answer broke off' : own;
  return new UpstreamFailure(kind, messageOf({ kind, cause }, own), status, {
    metadata: { ...cleanedWords(error.metadata, scope), ...metadataOf(kind, scope, {}) },
    retryAfterSeconds: capped(error.retryAfterSeconds),
    lostBy: error instanceof BrokenAnswer ? 'broken-off' : lostByKind(kind),
    overflow: overflowIn(kind, own, scope),
    ...(UPSTREAM_MESSAGE_KINDS.has(kind)
      ? { plainMessage: messageOf({ kind, cause: 'the answer says so' }, '') }
      : own !== '' && !(error instanceof BrokenAnswer) && { providerMessage: short(own) }),
  });
}

/**
 * Rewrites a terminal event for the caller: an error becomes a failure of this upstream, a finish loses secrets in its
 * text. Looks inside relayed frames too; any other event is returned unchanged.
 */
export function rewriteTerminal(event: Event, status: number, scope: FailureScope): Event {
  switch (event.type) {
    case 'failure':
      if (event.error instanceof UpstreamFailure) return event;
      return { ...event, error: failureOfEvent(event.error, status, scope) };
    case 'finish':
      return redactStrings(event, scope.confidential.secrets);
    case 'relay':
      return rewriteRelay(event, status, scope);
    default:
      return event;
  }
}

/** Returns the same event if nothing changes. */
function rewriteRelay(relay: Extract<Event, { type: 'relay' }>, status: number, scope: FailureScope): Event {
  const at = relay.events.findIndex((inner) => terminalOf(inner) !== undefined);
  const terminal = relay.events[at];
  if (terminal === undefined) return relay;
  const rewritten = rewriteTerminal(terminal, status, scope);
  return rewritten === terminal ? relay : { ...relay, events: relay.events.with(at, rewritten) };
}

function verdictOf(status: number, info: UpstreamErrorInfo | undefined): Verdict {
  const code = info?.code?.slice(0, MAX_MATCHED_LENGTH) ?? '';
  const message = info?.message.slice(0, MAX_MATCHED_LENGTH) ?? '';
  if (status === 403 && (FLAGGED_WORDS.test(code) || FLAGGED_WORDS.test(message))) return FLAGGED;
  if (status === 400 && CREDENTIAL_CODE.test(code)) return REFUSED_CREDENTIAL;
  if (status === 400 && (CONTEXT_CODE.test(code) || CONTEXT_MESSAGE.test(message))) return CONTEXT_TOO_LONG;
  // A 503 without such a code stays `overloaded`, although its text often mentions overload.
  if (status >= 500 && (OVERLOAD.test(code) || (status !== 503 && OVERLOAD.test(message)))) return OVERLOADED;
  return STATUS_VERDICTS[status] ?? CLASS_VERDICTS[Math.floor(status / 100)] ?? UNKNOWN_VERDICT;
}

function messageOf({ kind, cause }: Verdict, own: string): string {
  if (own !== '' && UPSTREAM_MESSAGE_KINDS.has(kind)) return own;
  const first = DEFAULT_MESSAGES[kind] ?? PROVIDER_ERROR;
  return first.endsWith('.') ? `${first} (${cause})` : `${first}: ${cause}`;
}

function overflowIn(kind: ErrorKind, own: string, { contextLength }: FailureScope): Overflow | undefined {
  return kind === 'context-length' ? overflowOf(own, contextLength) : undefined;
}

function metadataOf(
  kind: ErrorKind,
  scope: FailureScope,
  details: { readonly code?: string | undefined; readonly raw?: string },
): JsonObject {
  const raw = details.raw === undefined || isMarkup(details.raw) ? '' : rawOf(details.raw, scope);
  return {
    provider_name: scope.provider.name,
    error_type: ERROR_TABLE[kind].errorType,
    ...(raw !== '' && { raw }),
    ...(details.code !== undefined &&
      details.code !== '' && { provider_code: cleanedWord(details.code, scope) }),
  };
}

function readInfo(
  body: string,
  scope: FailureScope,
  headers?: Readonly<Record<string, string>>,
): UpstreamErrorInfo | undefined {
  const reading = readJson(body);
  return reading.ok ? scope.readError(reading.value, headers) : undefined;
}

/** An upstream's sentence as one line of bounded length, without secrets and addresses. */
function cleaned(text: string, scope: FailureScope): string {
  if (isMarkup(text)) return '';
  const line = redact(text, scope.confidential)
    .replace(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .trim();
  return line.length <= MAX_MESSAGE_LENGTH ? line : `${line.slice(0, MAX_MESSAGE_LENGTH - 1)}${ELLIPSIS}`;
}

/** An upstream's own word for something, without secrets. */
function cleanedWord(word: string, scope: FailureScope): string {
  return cleaned(word, scope).slice(0, MAX_WORD_LENGTH);
}

function rawOf(body: string, scope: FailureScope): string {
  const clean = Buffer.from(redact(body.trim(), scope.confidential));
  if (clean.length <= MAX_RAW_BYTES) return clean.toString();
  // Decoding drops the half of a character that the cut left over.
  return new TextDecoder().decode(clean.subarray(0, MAX_RAW_BYTES - 3), { stream: true });
}

/** Whether a text of a failure, as it is shown, was cut at its length. */
export function isCut(shown: string): boolean {
  return shown.endsWith(ELLIPSIS) || Buffer.byteLength(shown) > MAX_RAW_BYTES - MAX_CUT_BYTES;
}

/** Web pages are never echoed. */
function isMarkup(text: string): boolean {
  return /^\s*</.test(text) || /<(?:!doctype|html|head|body|script)\b/i.test(text.slice(0, 4096));
}

/** Metadata that a decoder gave to an error: text of the upstream. */
function cleanedWords(metadata: JsonObject | undefined, scope: FailureScope): JsonObject {
  const words = Object.entries(metadata ?? {}).flatMap(([name, value]) =>
    typeof value === 'string' ? [[name, cleanedWord(value, scope)] as const] : [],
  );
  return Object.fromEntries(words);
}

function capped(seconds: number | undefined): number | undefined {
  return seconds === undefined
    ? undefined
    : Math.min(Math.max(Math.ceil(seconds), 0), MAX_RETRY_AFTER_SECONDS);
}
