import { type ErrorKind, GatewayError } from '../../ir/errors.ts';
import { namedTrace } from '../../ir/trace.ts';
import { usdOf } from '../../kit/money.ts';
import type { Candidate } from '../../routing/rules/candidate.ts';
import { UpstreamFailure } from '../../upstream/upstream.ts';
import type { CallRecord } from '../leg/leg.ts';
import type { PlannedGeneration } from '../record/generation-row.ts';
import type { Settlement } from '../record/settle.ts';

/** How a generation ended, for operators: `refused` = failed for a reason that only its caller can fix. */
export type EndKind = 'finished' | 'aborted' | 'refused' | 'failed';

/** One upstream call, for operators. */
export interface AttemptFacts {
  readonly model: string;
  readonly provider: string;
  /** Tag of the endpoint. */
  readonly endpoint: string;
  /** Null if the upstream never answered. */
  readonly status: number | null;
  /** Milliseconds to the first content, or to the failure. */
  readonly duration_ms: number;
  /** Null if the attempt brought an answer or was not waited for. */
  readonly error_kind: ErrorKind | 'empty' | 'refusal' | null;
  readonly upstream_code: string | null;
  readonly errno: string | null;
  /** The beginning of what the provider said of its failure; absent = nothing that may be shown. */
  readonly provider_message?: string;
}

/** An ended generation as operators see it: caller, endpoint, amounts and reason. Never its content. */
export interface GenerationFacts {
  readonly id: string;
  /** The caller's own id of the request, else the generation id. */
  readonly request_id: string;
  /** The trace that the request named; absent = it named none. */
  readonly trace_id?: string;
  readonly outcome: Settlement['outcome'];
  readonly format: string;
  /** The serving model, or the one called last, else the requested one. */
  readonly model: string;
  readonly provider: string | undefined;
  readonly endpoint: string | undefined;
  readonly lane: string | undefined;
  readonly attempts: number;
  readonly finish_reason: string | undefined;
  readonly error_kind: ErrorKind | undefined;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly usage_source: string;
  readonly cost_usd: number;
  readonly duration_ms: number;
  readonly account: string;
  readonly workspace: string;
  readonly workspace_slug: string;
  readonly key: string;
  readonly key_name: string;
  readonly key_hash: string;
}

/** Further members of a failed generation. Null = the upstream never answered, or gave no code. */
export interface FailureFacts {
  readonly requested: string;
  readonly status: number;
  readonly upstream_status: number | null;
  readonly upstream_code: string | null;
  readonly errno: string | null;
  /** Without the words with which an upstream refused the request: they may quote it. Absent if there are no others. */
  readonly reason?: string;
  readonly attempt_log: readonly AttemptFacts[];
}

/** The members of every generation. `nowMs`: epoch milliseconds. */
export function factsOf(
  { input, request, attemptLog }: PlannedGeneration,
  { usage, bill, outcome, error, result }: Settlement,
  nowMs: number,
): GenerationFacts {
  const { caller, generationId } = input;
  const candidate = candidateOf(attemptLog);
  const trace_id = namedTraceIdOf(request, input);
  return {
    id: generationId,
    ...(trace_id !== undefined && { trace_id }),
    request_id: input.attribution?.requestId ?? generationId,
    outcome,
    format: input.format,
    model: candidate?.model.id ?? attemptLog.plan.requested,
    provider: candidate?.endpoint.provider.slug,
    endpoint: candidate?.endpoint.tag,
    lane: candidate?.lane,
    attempts: attemptLog.calls.length,
    finish_reason: result.finish?.reason,
    error_kind: error?.kind,
    input_tokens: usage.inputTokens,
    output_tokens: usage.outputTokens,
    usage_source: usage.source,
    cost_usd: usdOf(bill.totalNanos),
    duration_ms: Math.round(nowMs - input.acceptedAtMs),
    account: caller.accountId,
    workspace: caller.workspaceId,
    workspace_slug: caller.workspace.slug,
    key: caller.key.label,
    key_name: caller.key.name,
    key_hash: caller.key.hash,
  };
}

function namedTraceIdOf(
  { wishes: { trace } }: PlannedGeneration['request'],
  { attribution }: PlannedGeneration['input'],
): string | undefined {
  const traceparent = attribution?.traceparent;
  if (trace === undefined && traceparent === undefined) return undefined;
  return namedTrace({ trace: trace ?? null, traceparent }).traceId;
}

function candidateOf({ selected, lastCalled }: PlannedGeneration['attemptLog']): Candidate | undefined {
  return selected ?? lastCalled;
}

export function failureFactsOf({ attemptLog }: PlannedGeneration, error: GatewayError): FailureFacts {
  const isOfUpstream = error instanceof UpstreamFailure;
  const mayQuote = isOfUpstream && isCallersOwn(error);
  const reason = isOfUpstream
    ? (error.plainMessage ?? (mayQuote ? undefined : error.message))
    : error.message;
  return {
    requested: attemptLog.plan.requested,
    status: error.status,
    upstream_status: isOfUpstream && error.upstreamStatus !== 0 ? error.upstreamStatus : null,
    upstream_code: codeOf(error),
    errno: isOfUpstream ? (error.errno ?? null) : null,
    ...(reason !== undefined && { reason }),
    attempt_log: attemptLog.calls.map(attemptFactsOf),
  };
}

export function attemptFactsOf({
  candidate,
  answered,
  latencyMs,
  failure,
  breakOff,
}: CallRecord): AttemptFacts {
  const reason = failure ?? endOfAnswer(breakOff?.error);
  const error = reason instanceof UpstreamFailure ? reason : undefined;
  return {
    model: candidate.model.id,
    provider: candidate.endpoint.provider.slug,
    endpoint: candidate.endpoint.tag,
    status: answered,
    duration_ms: Math.round(breakOff?.afterMs ?? latencyMs),
    error_kind: reason instanceof GatewayError ? reason.kind : (reason ?? null),
    upstream_code: error === undefined ? null : codeOf(error),
    errno: error?.errno ?? null,
    ...(error?.providerMessage !== undefined && { provider_message: error.providerMessage }),
  };
}

/** The error with which an answer broke off; undefined for one of a stage, such as a guardrail. */
function endOfAnswer(error: GatewayError | undefined): GatewayError | undefined {
  return error instanceof UpstreamFailure || error?.kind === 'deadline' ? error : undefined;
}

function codeOf({ metadata }: GatewayError): string | null {
  const code = metadata?.provider_code;
  return typeof code === 'string' ? code : null;
}

/** Upstream errors that only the caller can fix, with another request. */
const CALLERS_KINDS: ReadonlySet<ErrorKind> = new Set<ErrorKind>([
  'invalid-request',
  'context-length',
  'content-policy',
  'permission',
  'payload-too-large',
  'unprocessable',
]);

/** Kinds below 500 that the caller did not cause, unless they come from an upstream. */
const OUR_KINDS: ReadonlySet<ErrorKind> = new Set<ErrorKind>(['rate-limited', 'deadline']);

function isCallersOwn(error: GatewayError): boolean {
  if (error instanceof UpstreamFailure) return CALLERS_KINDS.has(error.kind);
  return error.status < 500 && !OUR_KINDS.has(error.kind);
}

export function endOf({ outcome, error }: Settlement): EndKind {
  return outcome === 'failed' && error !== undefined && isCallersOwn(error) ? 'refused' : outcome;
}

/** Failed calls in legs that another call served. */
export function rescuedCalls({ attemptLog }: PlannedGeneration): readonly CallRecord[] {
  // Nearly always there is one leg with one call.
  if (attemptLog.calls.length < 2) return NONE_RESCUED;
  return attemptLog.legs
    .filter(({ selected }) => selected !== undefined)
    .flatMap(({ calls }) => calls.filter(({ failure }) => failure !== undefined));
}

const NONE_RESCUED: readonly CallRecord[] = [];
