import type { Provider } from '../catalog/catalog.ts';
import { type Credential, secretsOf } from '../catalog/credential.ts';
import { tierOf } from '../catalog/endpoint-tier.ts';
import type { RenderedRequest, RenderTarget, UpstreamDialect } from '../dialects/dialect.ts';
import type { DialectName, Format } from '../ir/items.ts';
import type { TranslationEntry } from '../ir/metadata.ts';
import type { Clock, IdSource } from '../kit/ids.ts';
import { runPromptly, type Sliced } from '../kit/turns.ts';
import type { Authorize } from './auth/authorize.ts';
import { type Destination, destinationOf } from './auth/destination.ts';
import { TokenRefused } from './auth/google-tokens.ts';
import { type AnswerSource, Batches, MAX_EVENT_BYTES, streamReader } from './batches.ts';
import { type FailureScope, failureOfBody, failureOfProblem, failureOfReply } from './failure.ts';
import { fitOutput } from './fit-output.ts';
import { fitReasoning } from './fit-reasoning.ts';
import { fitTier } from './fit-tier.ts';
import { openCall } from './open-call.ts';
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
import { WholeAnswer } from './whole-answer.ts';

/** What calls are made with. */
export interface CallDependencies {
  /** `simulator` serves the providers of that dialect, `network` all others. */
  readonly transports: { readonly network: Transport; readonly simulator: Transport };
  /** The dialects that are built. */
  readonly dialects: Readonly<Partial<Record<DialectName, UpstreamDialect>>>;
  readonly authorize: Authorize;
  readonly clock: Clock;
  readonly ids: IdSource;
}

/** How much of an error's body is read, and how long that may take. */
const ERROR_BODY: Patience = { maxBytes: 64 * 1024, maxMs: 5000 };

/** Where the simulator is addressed; the dialect's own path follows. */
const SIMULATOR_BASE = 'simulator://local';

/** The header by which callers ask for betas. */
const BETA_HEADER = 'anthropic-beta';

/** How a dialect is told the betas a caller asked for: those in the body it renders itself. Others have none. */
const BETA_CARRIERS: Readonly<Partial<Record<DialectName, 'header' | 'body'>>> = {
  messages: 'header',
  bedrock: 'body',
};

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
    const destination = destinationOf(call.endpoint, call.credential);
    if (destination === undefined) throw missingAddress(provider);
    const rendering = runPromptly(renderCall(call, dialect, destination.model));
    const rendered = rendering instanceof Promise ? await rendering : rendering;
    const confidential = confidentialOf(provider, call.credential, destination.baseUrl);
    const scope: FailureScope = {
      provider,
      confidential,
      isOwnCredential: call.isOwnCredential ?? false,
      readError: (body, headers) => dialect.readError(body, headers),
      now: () => dependencies.clock.now(),
    };
    if (call.request.echoUpstreamBody) call.onRequest?.(redactJson(rendered.body, confidential.secrets));
    const sent = await send({ call, dialect, destination, rendered, scope }, dependencies);
    if (!isAnswer(sent.reply)) throw await refusalOf(sent.reply, call, sent.scope);
    const ground = dependencies.ids.token(12);
    return {
      status: sent.reply.status,
      report: rendered.report,
      batches: answerOf(sent.reply, call, dialect, sent.scope, { turns, ground }),
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

/** The credential does not fit: it has no part for this model, or there is none to say the address. */
function missingAddress(provider: Provider): UpstreamFailure {
  return new UpstreamFailure(
    'upstream-unavailable',
    'Provider returned error: the credential of the gateway names no address for this model',
    0,
    { metadata: { provider_name: provider.name, error_type: 'provider_unavailable' } },
  );
}

/** What would be sent, and what is lost or changed on the way. `model`: its name at the destination. */
export function* renderCall(
  call: Pick<UpstreamCall, 'request' | 'endpoint' | 'lane' | 'hashUser' | 'betas' | 'mostOutputTokens'>,
  dialect: UpstreamDialect,
  model: string,
): Sliced<RenderedRequest> {
  const target = targetOf(call, model);
  const paid = fitOutput(call.request, call.mostOutputTokens, call.endpoint);
  const ofTier = fitTier(paid.request, tierOf(call.endpoint), dialect.name);
  const fitted = fitReasoning(ofTier.request, call.endpoint.reasoning, target.maxOutputTokens);
  const { request } = fitted;
  const report = paid.report.concat(ofTier.report, fitted.report, lostBetas(target, dialect));
  const rendered = yield* call.lane === 'relay'
    ? dialect.renderRelay(request, target)
    : dialect.renderRequest(request, target);
  return report.length === 0 ? rendered : { ...rendered, report: [...report, ...rendered.report] };
}

function lostBetas(
  { betas = [] }: RenderTarget,
  { name }: Pick<UpstreamDialect, 'name'>,
): readonly TranslationEntry[] {
  if (betas.length === 0 || BETA_CARRIERS[name] !== undefined) return [];
  const detail = `the upstream has no betas: ${betas.join(', ')}`;
  return [{ field: BETA_HEADER, action: 'dropped', detail }];
}

function targetOf(
  {
    endpoint,
    hashUser,
    betas,
    mostOutputTokens,
  }: Pick<UpstreamCall, 'endpoint' | 'hashUser' | 'betas' | 'mostOutputTokens'>,
  model: string,
): RenderTarget {
  const { reasoning } = endpoint;
  return {
    model,
    maxOutputTokens: lesser(endpoint.maxOutputTokens, mostOutputTokens),
    supportedParameters: endpoint.supportedParameters,
    supportedEfforts: reasoning?.supportedEfforts,
    takesBudget: reasoning?.supportsMaxTokens,
    alwaysThinks: reasoning?.mandatory,
    quirks: endpoint.provider.quirks,
    betas: betas === undefined ? undefined : namesIn(betas),
    hashUser,
  };
}

/** Of two limits that may be missing the one that binds. */
function lesser(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? (one ?? other) : Math.min(one, other);
}

/** The names in a header that lists them. */
function namesIn(list: string): string[] {
  return list
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
}

/** An operator's header may hold a secret under any name; short values (`eu`, `2024-01`) are none. */
const SHORTEST_HEADER_SECRET = 8;

/** What must not be seen of a provider: the credential, what the operator's headers say, the host. */
function confidentialOf(
  provider: Provider,
  credential: Credential | undefined,
  baseUrl: string,
): Confidential {
  const known = CONFIDENTIAL.get(provider);
  if (known?.credential === credential && known?.baseUrl === baseUrl) return known.confidential;
  const confidential = readConfidential(provider, credential, baseUrl);
  CONFIDENTIAL.set(provider, { credential, baseUrl, confidential });
  return confidential;
}

/** What must not be seen of a provider as it was called last: mostly the same as the next time. */
const CONFIDENTIAL = new WeakMap<
  Provider,
  {
    readonly credential: Credential | undefined;
    readonly baseUrl: string;
    readonly confidential: Confidential;
  }
>();

function readConfidential(
  provider: Provider,
  credential: Credential | undefined,
  baseUrl: string,
): Confidential {
  const headers = Object.entries(provider.headers)
    .filter(([name, value]) => isSecretName(name) || value.length >= SHORTEST_HEADER_SECRET)
    .map(([, value]) => value);
  return {
    secrets: [...(credential === undefined ? [] : secretsOf(credential)), ...headers],
    host: provider.dialect === 'simulator' ? undefined : hostOf(baseUrl),
  };
}

function hostOf(baseUrl: string): string | undefined {
  return URL.canParse(baseUrl) ? new URL(baseUrl).host : undefined;
}

/** A call that has been rendered. */
interface PreparedCall {
  readonly call: UpstreamCall;
  readonly dialect: UpstreamDialect;
  readonly destination: Destination;
  readonly rendered: RenderedRequest;
  readonly scope: FailureScope;
}

/** Sends a call. The scope comes back with the secrets that were made on the way. */
async function send(
  { call, dialect, destination, rendered, scope }: PreparedCall,
  { transports, authorize }: CallDependencies,
): Promise<{ reply: TransportReply; scope: FailureScope }> {
  const { request, endpoint, signal } = call;
  const { provider } = endpoint;
  const isSimulated = provider.dialect === 'simulator';
  const base = isSimulated ? SIMULATOR_BASE : destination.baseUrl;
  const transport = isSimulated ? transports.simulator : transports.network;
  const url = base + dialect.path(destination.model, request.stream) + destination.query;
  const { credential, isNamedByCredential } = destination;
  const own = call.isOwnCredential ? { isAddressed: isNamedByCredential } : undefined;
  const headers = headersOf(own?.isAddressed ? withoutOperatorHeaders(call) : call, dialect, rendered);
  try {
    const { reply, secrets } = await openCall(
      { provider, credential, url, headers, body: rendered.body, signal, own },
      { transport, authorize },
    );
    return { reply, scope: withSecrets(scope, secrets) };
  } catch (thrown) {
    if (signal.aborted) throw signal.reason;
    if (thrown instanceof TokenRefused) throw failureOfToken(thrown, scope);
    throw thrown instanceof TransportProblem ? failureOfProblem(thrown, 0, scope) : thrown;
  }
}

/** What the operator's headers say is for the address that the operator knows. */
function withoutOperatorHeaders(call: UpstreamCall): UpstreamCall {
  const { endpoint } = call;
  return { ...call, endpoint: { ...endpoint, provider: { ...endpoint.provider, headers: {} } } };
}

function withSecrets(scope: FailureScope, made: readonly string[]): FailureScope {
  if (made.length === 0) return scope;
  const { secrets, host } = scope.confidential;
  return { ...scope, confidential: { secrets: [...secrets, ...made], host } };
}

/** A token server that is busy or down passes; any other refusal is about the gateway's own credential. */
function failureOfToken({ status }: TokenRefused, scope: FailureScope): UpstreamFailure {
  const isPassing = status === 429 || status >= 500;
  return failureOfReply({ status: isPassing ? status : 401, headers: {}, body: '' }, scope);
}

/** Headers of a call but for its authorization; later ones win: ours, the dialect's, the caller's betas, the operator's. */
export function headersOf(
  call: Pick<UpstreamCall, 'request' | 'endpoint' | 'betas'>,
  dialect: Pick<UpstreamDialect, 'name' | 'streamType'>,
  rendered: RenderedRequest,
): Record<string, string> {
  const { provider } = call.endpoint;
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    // Some servers in front of providers turn away requests without one.
    'user-agent': 'signalbox',
    accept: call.request.stream ? dialect.streamType : 'application/json',
  };
  addLowerCased(headers, rendered.headers);
  if (BETA_CARRIERS[dialect.name] === 'header' && call.betas !== undefined) {
    const own = headers[BETA_HEADER];
    headers[BETA_HEADER] = own === undefined ? call.betas : `${own},${call.betas}`;
  }
  addLowerCased(headers, provider.headers);
  return headers;
}

/** Adds headers under lower-case names, so that two spellings of one are one. */
function addLowerCased(headers: Record<string, string>, more: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(more)) headers[name.toLowerCase()] = value;
}

/** Whether a reply is an answer; pages that say they are one are none. */
function isAnswer({ status, headers }: TransportReply): boolean {
  return isGood(status) && !isPage(headers['content-type'] ?? '');
}

function isGood(status: number): boolean {
  return status >= 200 && status < 300;
}

/** The failure behind a reply that is no answer; after an abort its reason. */
async function refusalOf(reply: TransportReply, call: UpstreamCall, scope: FailureScope): Promise<unknown> {
  const body = await readBeginning(reply.chunks[Symbol.asyncIterator](), ERROR_BODY);
  if (call.signal.aborted) return call.signal.reason;
  return isGood(reply.status)
    ? failureOfBody('the provider answered with a web page', reply.status, '', scope)
    : failureOfReply({ ...reply, body }, scope);
}

/** What a reply that is an answer says. */
function answerOf(
  reply: TransportReply,
  call: UpstreamCall,
  dialect: UpstreamDialect,
  scope: FailureScope,
  { turns, ground }: { readonly turns: Turns; readonly ground: string },
): Batches {
  const chunks = reply.chunks[Symbol.asyncIterator]();
  const contentType = reply.headers['content-type'] ?? '';
  const context = { request: call.request, relay: call.lane === 'relay', ground };
  const { status } = reply;
  const isStreamed = call.request.stream;
  const source: AnswerSource = { status, chunks, signal: call.signal, scope, turns, isStreamed };
  const isStream = isStreamed && !isJson(contentType);
  if (isStream)
    return new Batches(
      source,
      streamReader(dialect.createFrameReader(MAX_EVENT_BYTES), dialect.createDecoder(context)),
    );
  const whole = new WholeAnswer(chunks, {
    decodeBody: (body) => dialect.decodeBody(body, context),
    fail: (cause, text) => {
      const error = failureOfBody(cause, status, text.slice(0, ERROR_BODY.maxBytes), scope);
      return [{ type: 'failure', error }];
    },
    turns,
  });
  return new Batches({ ...source, chunks: whole }, whole);
}

function isPage(contentType: string): boolean {
  return /^(?:text\/html|application\/xhtml)/i.test(contentType);
}

function isJson(contentType: string): boolean {
  return /^application\/(?:[\w.+-]+\+)?json\b/i.test(contentType);
}
