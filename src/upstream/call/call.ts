import type { Provider } from '../../catalog/catalog.ts';
import { outputLimitAt } from '../../catalog/output-limit.ts';
import { tierOf } from '../../catalog/service-tier.ts';
import {
  type DecodeContext,
  type Dialect,
  isStreaming,
  type RenderedRequest,
  type RenderTarget,
  type UpstreamDialect,
} from '../../dialects/dialect.ts';
import type { DialectFacts } from '../../dialects/dialect-facts.ts';
import type { Dialects } from '../../dialects/dialects.ts';
import { fitBudget } from '../../dialects/fit/fit-budget.ts';
import { fitOutput } from '../../dialects/fit/fit-output.ts';
import { fitReasoning } from '../../dialects/fit/fit-reasoning.ts';
import { fitSampling } from '../../dialects/fit/fit-sampling.ts';
import { fitTier } from '../../dialects/fit/fit-tier.ts';
import { fitTools } from '../../dialects/fit/fit-tool-calls.ts';
import { withoutVendorTools } from '../../dialects/fit/vendor-tools.ts';
import { dialectOfCall } from '../../dialects/lane.ts';
import { VALUE_PASSED_ON } from '../../dialects/shared/report/passed-on-fields.ts';
import { Report } from '../../dialects/shared/report/report.ts';
import { undocumentedEntries } from '../../dialects/shared/report/undocumented-members.ts';
import { BETA_HEADER } from '../../dialects/shared/requests/betas.ts';
import { NO_ENTRIES, type TranslationEntry } from '../../ir/metadata.ts';
import type { GenerationRequest } from '../../ir/request.ts';
import type { IdSource } from '../../kit/ids.ts';
import type { MemoryBudget } from '../../kit/loop/memory-budget.ts';
import { TurnQueue } from '../../kit/loop/turn-queue.ts';
import { inTurn } from '../../kit/loop/turns.ts';
import { redactJson } from '../../kit/secrets/redact.ts';
import type { Clock } from '../../kit/time/clock.ts';
import { TransportProblem } from '../../net/http1/client/transport-problem.ts';
import { type ReadLimits, readBeginning } from '../../net/transport/read-beginning.ts';
import type { Transport, TransportReply } from '../../net/transport/transport-call.ts';
import type { Authorize } from '../auth/authorize.ts';
import { TokenRefused } from '../auth/google-tokens.ts';
import { type CallUpstream, type UpstreamAnswer, type UpstreamCall, UpstreamFailure } from '../upstream.ts';
import { AnswerMask } from './answer-mask.ts';
import { AnswerMemory } from './answer-memory.ts';
import { type Approach, Approaches } from './approach.ts';
import { Batches, MAX_EVENT_BYTES, streamReader } from './batches.ts';
import { type FailureScope, failureOfBody, failureOfProblem, failureOfReply } from './failure.ts';
import { withKnownKinds } from './foreign-kinds.ts';
import { openCall, type UnsignedCall } from './open-call.ts';
import { timeoutsFor } from './timeouts-for.ts';
import { WholeAnswer } from './whole-answer.ts';

export interface CallDependencies {
  /** `simulator` serves the providers of that dialect, `network` all others. */
  readonly transports: { readonly network: Transport; readonly simulator: Transport };
  readonly dialects: Partial<Dialects>;
  readonly authorize: Authorize;
  readonly clock: Clock;
  readonly ids: IdSource;
  /** Memory that large answers take until their replies have left. */
  readonly largeAnswers: MemoryBudget;
}

/** Answers that are read on in one turn of the event loop. */
const READERS_PER_TURN = 8;

/** How much of an error's body is read, and how long that may take. */
const ERROR_BODY: ReadLimits = { maxBytes: 64 * 1024, maxMs: 5000 };

/** Makes the function that calls one endpoint: render, authorize, send, read. */
export function createCallUpstream(dependencies: CallDependencies): CallUpstream {
  const { transports, authorize, ids } = dependencies;
  const approaches = new Approaches(dependencies.clock);
  const turns = new TurnQueue(READERS_PER_TURN);
  return async (call) => {
    const { request, endpoint, credential, signal } = call;
    signal.throwIfAborted();
    const { provider } = endpoint;
    const name = dialectOfCall(endpoint, request.format, call.lane);
    const dialect = dependencies.dialects[name];
    if (dialect === undefined) throw missingDialect(provider, name);
    const isByok = call.isByok ?? false;
    const approach = approaches.of({ endpoint, credential, isByok, dialect });
    if (approach === undefined) throw missingAddress(provider);
    const rendering = inTurn(dependencies.clock, () => renderCall(call, dialect, approach.destination.model));
    const rendered = rendering instanceof Promise ? await rendering : rendering;
    const { scope } = approach;
    request.watch?.sent(rendered.body);
    if (request.echoUpstreamBody) call.onRequest?.(redactJson(rendered.body, scope.confidential.secrets));
    const transport = provider.dialect === 'simulator' ? transports.simulator : transports.network;
    let reply: TransportReply;
    let secrets: readonly string[];
    try {
      ({ reply, secrets } = await openCall(unsignedCall(call, approach, rendered), { transport, authorize }));
    } catch (thrown) {
      throw failureOfSending(thrown, signal, scope);
    }
    const answerScope = withSecrets(scope, secrets);
    if (!isAnswer(reply)) throw await refusalOf(reply, call, answerScope);
    const answering: Answering = {
      call,
      dialect: dialect.upstream,
      scope: answerScope,
      turns,
      idSeed: ids.token(12),
      memory: new AnswerMemory(dependencies.largeAnswers, call),
    };
    return { status: reply.status, report: rendered.report, batches: answerOf(reply, answering) };
  };
}

function unsignedCall(call: UpstreamCall, approach: Approach, rendered: RenderedRequest): UnsignedCall {
  const { url, headers } = approach.headOf(call, rendered);
  const { trace } = call;
  return {
    provider: call.endpoint.provider,
    credential: approach.destination.credential,
    url,
    headers: trace === undefined ? headers : { ...headers, ...trace },
    body: rendered.body,
    exactNumbers: call.request.exactNumbers,
    timeouts: timeoutsFor(call),
    signal: call.signal,
    own: call.isByok ? { isAddressed: approach.isAddressedByCaller } : undefined,
  };
}

/** Why a call was not answered; after an abort its reason. */
function failureOfSending(thrown: unknown, signal: AbortSignal, scope: FailureScope): unknown {
  if (signal.aborted) return signal.reason;
  if (thrown instanceof TokenRefused) return failureOfToken(thrown, scope);
  return thrown instanceof TransportProblem ? failureOfProblem(thrown, 0, scope) : thrown;
}

function missingDialect(provider: Provider, name: string): UpstreamFailure {
  return new UpstreamFailure(
    'upstream-unavailable',
    `Provider returned error: the dialect ${name} is not available in this gateway`,
    0,
    { metadata: { provider_name: provider.name, error_type: 'provider_unavailable' } },
  );
}

/** Neither the provider nor the credential names an address for this model. */
function missingAddress(provider: Provider): UpstreamFailure {
  return new UpstreamFailure(
    'upstream-unavailable',
    'Provider returned error: the credential of the gateway names no address for this model',
    0,
    { metadata: { provider_name: provider.name, error_type: 'provider_unavailable' } },
  );
}

const NO_FACTS: DialectFacts = {};

const EMULATED_DECISIONS: readonly TranslationEntry[] = [
  {
    field: 'questions',
    action: 'coerced',
    detail: 'the model answers them as JSON: how sure it is, it says itself',
  },
];

const EMULATED_COMPACTION: readonly TranslationEntry[] = [
  {
    field: 'input',
    action: 'coerced',
    detail: 'the model summarises the conversation; thoughts and items that it cannot read are left out',
  },
];

/** What a model is asked for in a conversation of the gateway's. */
function emulationOf({ decision, format }: GenerationRequest): readonly TranslationEntry[] {
  if (format === 'compaction') return EMULATED_COMPACTION;
  return decision === undefined ? NO_ENTRIES : EMULATED_DECISIONS;
}

/** The rendered request and a report of what is lost or changed. `model`: its name at the destination. */
export function renderCall(
  call: Pick<UpstreamCall, 'request' | 'endpoint' | 'lane' | 'hashUser' | 'betas' | 'paid'>,
  { name, upstream, facts = NO_FACTS }: Dialect,
  model: string,
): RenderedRequest {
  const target = targetOf(call, model);
  const most = upstream.takesNoLimit === true ? undefined : call.paid?.outputTokens;
  const paid = fitOutput(withoutVendorTools(call.request), most, call.endpoint);
  const tooled = fitTools(paid.request, call.paid, upstream);
  const ofTier = fitTier(tooled.request, tierOf(call.endpoint), facts);
  const sampled = fitSampling(ofTier.request, call.endpoint);
  const isRelay = call.lane === 'relay';
  const { request: called, report: replaced } = isRelay
    ? { request: sampled.request, report: NO_ENTRIES }
    : withKnownKinds(sampled.request, { dialect: name, facts });
  const budgeted = fitBudget(called, facts);
  const { request, report } = fitReasoning(budgeted.request, call.endpoint.reasoning, target.outputLimit);
  const lost = lostBetas(target, facts);
  const { renderRequest, renderRelay = renderRequest } = upstream;
  const emulated = isRelay ? NO_ENTRIES : emulationOf(request);
  const fitted = [paid.report, tooled.report, ofTier.report, sampled.report, budgeted.report, report];
  const entries = [request.ignoredMembers ?? NO_ENTRIES, ...fitted, replaced, lost, emulated];
  const made = isRelay ? renderRelay(request, target) : renderRequest(request, target);
  const isOfFormat = isRelay || name === request.format;
  const reported = withUndocumented(made, request, isOfFormat, entries);
  const rendered = call.endpoint.provider.dialect === 'simulator' ? asSimulated(reported, request) : reported;
  return entries.every(({ length }) => length === 0)
    ? rendered
    : { ...rendered, report: [...entries.flat(), ...rendered.report] };
}

/**
 * The rendered request with a report on members and values that no format documents, unless `told` has them.
 * `isOfFormat`: the upstream speaks the format of the request.
 */
function withUndocumented(
  rendered: RenderedRequest,
  request: GenerationRequest,
  isOfFormat: boolean,
  told: readonly (readonly TranslationEntry[])[],
): RenderedRequest {
  if (request.undocumented === undefined) return rendered;
  const { body, report } = rendered;
  const further = undocumentedEntries(request, { body, isOfFormat }, [...told.flat(), ...report]);
  return { ...rendered, report: [...report, ...further] };
}

/** The simulator reads the fields that it knows, and runs no tools: what else is passed on has no effect there. */
function asSimulated(rendered: RenderedRequest, request: GenerationRequest): RenderedRequest {
  const tools = new Report(request);
  for (const tool of request.tools) {
    if (tool.type === 'hosted')
      tools.ignored(tools.place(tool, 'tools'), `the simulator has no ${tool.kind}`);
  }
  const passed = rendered.report.map((entry): TranslationEntry => {
    if (entry.action !== 'passed_on') return entry;
    const what = entry.detail === VALUE_PASSED_ON ? 'value' : 'field';
    return { ...entry, action: 'ignored', detail: `not a known ${what}: the simulator ignores it` };
  });
  return { ...rendered, report: [...tools.entries, ...passed] };
}

function lostBetas(
  { betas }: RenderTarget,
  { betaCarrier }: Pick<DialectFacts, 'betaCarrier'>,
): readonly TranslationEntry[] {
  if (betas === undefined || betas.length === 0 || betaCarrier !== undefined) return NO_ENTRIES;
  const detail = `the upstream has no betas: ${betas.join(', ')}`;
  return [{ field: BETA_HEADER, action: 'dropped', detail }];
}

function targetOf(
  { endpoint, hashUser, betas, paid }: Pick<UpstreamCall, 'endpoint' | 'hashUser' | 'betas' | 'paid'>,
  model: string,
): RenderTarget {
  const { reasoning } = endpoint;
  return {
    model,
    outputLimit: outputLimitAt(endpoint, paid?.outputTokens),
    supportedParameters: endpoint.supportedParameters,
    supportedEfforts: reasoning?.supportedEfforts,
    takesBudget: reasoning?.takesBudget,
    alwaysThinks: reasoning?.mandatory,
    quirks: endpoint.provider.quirks,
    betas: betas === undefined ? undefined : namesIn(betas),
    hashUser,
  };
}

function namesIn(list: string): string[] {
  return list
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
}

function withSecrets(scope: FailureScope, made: readonly string[]): FailureScope {
  if (made.length === 0) return scope;
  const { confidential } = scope;
  const secrets = [...confidential.secrets, ...made];
  return { ...scope, confidential: { ...confidential, secrets, tokens: made } };
}

/** A busy or failing token server is temporary; any other refusal concerns the credential and counts as 401. */
function failureOfToken({ status }: TokenRefused, scope: FailureScope): UpstreamFailure {
  const isTemporary = status === 429 || status >= 500;
  return failureOfReply({ status: isTemporary ? status : 401, headers: {}, body: '' }, scope);
}

/** Whether a reply is an answer: status 2xx, and not a web page. */
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

interface Answering {
  readonly call: UpstreamCall;
  readonly dialect: UpstreamDialect;
  readonly scope: FailureScope;
  readonly turns: TurnQueue;
  /** Prefix of ids we make when the upstream sends none; unique per answer. */
  readonly idSeed: string;
  readonly memory: AnswerMemory;
}

function answerOf(
  { status, headers, chunks: body }: TransportReply,
  { call, dialect, scope, turns, idSeed, memory }: Answering,
): UpstreamAnswer['batches'] {
  const { request, signal } = call;
  const { quirks } = call.endpoint.provider;
  const chunks = body[Symbol.asyncIterator]();
  const context: DecodeContext = { request, relay: call.lane === 'relay', idSeed, quirks, headers };
  if (!request.stream || !isStreaming(dialect) || isJson(headers['content-type'] ?? '')) {
    return new WholeAnswer({ status, chunks, signal, scope, turns, memory, dialect, context });
  }
  return new Batches(
    { status, chunks, signal, scope, turns, memory },
    streamReader(dialect.createFrameReader(MAX_EVENT_BYTES), dialect.createDecoder(context), {
      numbers: request.exactNumbers,
      mask: AnswerMask.of(scope.confidential),
    }),
  );
}

function isPage(contentType: string): boolean {
  return /^(?:text\/html|application\/xhtml)/i.test(contentType);
}

function isJson(contentType: string): boolean {
  return /^application\/(?:[\w.+-]+\+)?json\b/i.test(contentType);
}
