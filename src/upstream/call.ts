import type { Endpoint, Provider } from '../catalog/catalog.ts';
import type { RenderedRequest, RenderTarget, UpstreamDialect } from '../dialects/dialect.ts';
import type { Event } from '../ir/events.ts';
import type { DialectName, Format } from '../ir/items.ts';
import type { Clock } from '../kit/ids.ts';
import { isJsonObject, JSON_LIMITS, type JsonObject, readJson } from '../kit/json.ts';
import { authorize } from './auth/authorize.ts';
import { type AnswerReader, type AnswerSource, Batches, streamReader } from './batches.ts';
import { type FailureScope, failureOfBody, failureOfProblem, failureOfReply } from './failure.ts';
import { type Patience, readBeginning } from './read-beginning.ts';
import { type Confidential, isSecretName, redactJson } from './redact.ts';
import { Turns } from './turns.ts';
import {
  type CallUpstream,
  type Transport,
  TransportProblem,
  type TransportReply,
  type UpstreamCall,
  UpstreamFailure,
} from './upstream.ts';

/** What calls are made with. */
export interface CallDependencies {
  /** `simulator` serves the providers of that dialect, `network` all others. */
  readonly transports: { readonly network: Transport; readonly simulator: Transport };
  /** The dialects that are built. */
  readonly dialects: Readonly<Partial<Record<DialectName, UpstreamDialect>>>;
  readonly clock: Clock;
}

/** Bytes of a non-streaming answer. */
const MAX_BODY_BYTES = 64 * 1024 * 1024;

/** Log probabilities alone can hold more values than a request may. */
const BODY_LIMITS = { ...JSON_LIMITS, values: 2_000_000 };

/** How much of an error's body is read, and how long that may take. */
const ERROR_BODY: Patience = { maxBytes: 64 * 1024, maxMs: 5000 };

/** Where the simulator is addressed; the dialect's own path follows. */
const SIMULATOR_BASE = 'simulator://local';

/** Headers by which a dialect is told the betas a caller asked for. */
const BETA_HEADERS: Readonly<Partial<Record<DialectName, string>>> = { messages: 'anthropic-beta' };

/** The dialect that a provider speaks for a request of a given format: the simulator takes the caller's own. */
export function dialectOf(
  provider: Pick<Provider, 'dialect' | 'simulatedFormat'>,
  format: Format,
): DialectName {
  return provider.dialect === 'simulator' ? (provider.simulatedFormat ?? format) : provider.dialect;
}

/** Makes the function that calls one endpoint: render, authorize, send, read. */
export function createCallUpstream(dependencies: CallDependencies): CallUpstream {
  const turns = new Turns();
  return async (call) => {
    call.signal.throwIfAborted();
    const { provider } = call.endpoint;
    const name = dialectOf(provider, call.request.format);
    const dialect = dependencies.dialects[name];
    if (dialect === undefined) throw missingDialect(provider, name);
    const rendered = render(call, dialect);
    const confidential = confidentialOf(provider, call.credential);
    const scope: FailureScope = {
      provider,
      confidential,
      readError: (body) => dialect.readError(body),
      now: () => dependencies.clock.now(),
    };
    if (call.request.echoUpstreamBody) call.onRequest?.(redactJson(rendered.body, confidential.secrets));
    const reply = await send(call, dialect, rendered, scope, dependencies.transports);
    return {
      status: reply.status,
      report: rendered.report,
      batches: await answerOf(reply, call, dialect, scope, turns),
    };
  };
}

function missingDialect(provider: Provider, name: DialectName): UpstreamFailure {
  return new UpstreamFailure(
    'upstream-unavailable',
    `Provider returned error: the dialect ${name} is not available in this gateway`,
    0,
    { metadata: { provider_name: provider.name, error_type: 'provider_unavailable' } },
  );
}

function render(call: UpstreamCall, dialect: UpstreamDialect): RenderedRequest {
  const target = targetOf(call.endpoint, call.hashUser);
  return call.lane === 'relay'
    ? dialect.renderRelay(call.request, target)
    : dialect.renderRequest(call.request, target);
}

function targetOf(endpoint: Endpoint, hashUser: (id: string) => string): RenderTarget {
  return {
    model: endpoint.upstreamModel,
    maxOutputTokens: endpoint.maxOutputTokens,
    supportedParameters: endpoint.supportedParameters,
    hashUser,
  };
}

/** An operator's header may hold a secret under any name; short values (`eu`, `2024-01`) are none. */
const SHORTEST_HEADER_SECRET = 8;

/** What must not be seen of a provider: the credential, what the operator's headers say, the host. */
function confidentialOf(provider: Provider, credential: string | undefined): Confidential {
  const headers = Object.entries(provider.headers)
    .filter(([name, value]) => isSecretName(name) || value.length >= SHORTEST_HEADER_SECRET)
    .map(([, value]) => value);
  return {
    secrets: [...(credential === undefined ? [] : [credential]), ...headers],
    host: provider.dialect === 'simulator' ? undefined : hostOf(provider.baseUrl),
  };
}

function hostOf(baseUrl: string): string | undefined {
  return URL.canParse(baseUrl) ? new URL(baseUrl).host : undefined;
}

async function send(
  call: UpstreamCall,
  dialect: UpstreamDialect,
  rendered: RenderedRequest,
  scope: FailureScope,
  transports: CallDependencies['transports'],
): Promise<TransportReply> {
  const { request, endpoint, signal } = call;
  const { provider } = endpoint;
  const isSimulated = provider.dialect === 'simulator';
  const base = isSimulated ? SIMULATOR_BASE : provider.baseUrl;
  const transport = isSimulated ? transports.simulator : transports.network;
  try {
    return await transport.open({
      url: base + dialect.path(endpoint.upstreamModel, request.stream),
      headers: headersOf(call, dialect.name, rendered),
      body: JSON.stringify(rendered.body),
      timeouts: provider.timeouts,
      signal,
    });
  } catch (thrown) {
    if (signal.aborted) throw signal.reason;
    throw thrown instanceof TransportProblem ? failureOfProblem(thrown, 0, scope) : thrown;
  }
}

/** Headers of a call; later ones win: ours, the dialect's, the caller's betas, the operator's, the credential. */
export function headersOf(
  call: Pick<UpstreamCall, 'request' | 'endpoint' | 'credential' | 'betas'>,
  dialect: DialectName,
  rendered: RenderedRequest,
): Record<string, string> {
  const { provider } = call.endpoint;
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    // Some servers in front of providers turn away requests without one.
    'user-agent': 'signalbox',
    accept: call.request.stream ? 'text/event-stream' : 'application/json',
    ...lowerCased(rendered.headers),
  };
  const betaHeader = BETA_HEADERS[dialect];
  if (betaHeader !== undefined && call.betas !== undefined) {
    const own = headers[betaHeader];
    headers[betaHeader] = own === undefined ? call.betas : `${own},${call.betas}`;
  }
  return { ...headers, ...lowerCased(provider.headers), ...authorize(provider.auth, call.credential) };
}

/** Headers with lower-case names, so that two spellings of one are one. */
function lowerCased(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

/** The answer behind a reply. Throws an UpstreamFailure when the reply is none. */
async function answerOf(
  reply: TransportReply,
  call: UpstreamCall,
  dialect: UpstreamDialect,
  scope: FailureScope,
  turns: Turns,
): Promise<Batches> {
  const chunks = reply.chunks[Symbol.asyncIterator]();
  const isAnswer = reply.status >= 200 && reply.status < 300;
  const contentType = reply.headers['content-type'] ?? '';
  if (!isAnswer || isPage(contentType)) {
    const body = await readBeginning(chunks, ERROR_BODY);
    if (call.signal.aborted) throw call.signal.reason;
    throw isAnswer
      ? failureOfBody('the provider answered with a web page', reply.status, '', scope)
      : failureOfReply({ ...reply, body }, scope);
  }
  const context = { request: call.request, relay: call.lane === 'relay' };
  const source: AnswerSource = { status: reply.status, chunks, signal: call.signal, scope, turns };
  const isStream = call.request.stream && !isJson(contentType);
  return new Batches(
    source,
    isStream
      ? streamReader(dialect.createDecoder(context))
      : bodyReader((body) => dialect.decodeBody(body, context), reply.status, scope),
  );
}

function isPage(contentType: string): boolean {
  return /^(?:text\/html|application\/xhtml)/i.test(contentType);
}

function isJson(contentType: string): boolean {
  return /^application\/(?:[\w.+-]+\+)?json\b/i.test(contentType);
}

/** Reads a whole JSON body: collects, parses once at the end. */
function bodyReader(
  decodeBody: (body: JsonObject) => Event[],
  status: number,
  scope: FailureScope,
): AnswerReader {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  return {
    read(chunk) {
      bytes += chunk.length;
      if (bytes > MAX_BODY_BYTES) {
        throw new TransportProblem('too-large', `the answer is larger than ${MAX_BODY_BYTES} bytes`);
      }
      pieces.push(chunk);
      return [];
    },
    end() {
      const text = new TextDecoder().decode(Buffer.concat(pieces));
      const fail = (cause: string, raw: string): Event[] => [
        { type: 'failure', error: failureOfBody(cause, status, raw, scope) },
      ];
      const reading = readJson(text, BODY_LIMITS);
      if (!reading.ok) return fail(`the answer is ${reading.problem}`, '');
      if (!isJsonObject(reading.value)) return fail('the answer is not a JSON object', '');
      if (isErrorBody(reading.value)) return fail('the provider sent an error instead of an answer', text);
      return decodeBody(reading.value);
    },
  };
}

/** True for the error envelopes of all dialects. */
function isErrorBody(body: JsonObject): boolean {
  const { error } = body;
  return body.type === 'error' || isJsonObject(error) || (typeof error === 'string' && error !== '');
}
