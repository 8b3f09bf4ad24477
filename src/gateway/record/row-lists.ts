import { tierOf } from '../../catalog/service-tier.ts';
import type { ToolCallRecord } from '../../ir/leg.ts';
import type {
  GenerationRow,
  LegRow,
  ProviderResponse,
  ToolCallRow,
} from '../../ports/generations/generation-row.ts';
import type { Candidate } from '../../routing/rules/candidate.ts';
import { UpstreamFailure } from '../../upstream/upstream.ts';
import { chargeRows } from '../admission/reservation.ts';
import type { CallRecord } from '../leg/leg.ts';
import type { LegSoFar } from './account.ts';
import type { AttemptLog } from './attempt-log.ts';
import { short, wholeMs } from './row-values.ts';

/** True if the row itself describes everything: one leg and no charges. */
export function isPlain({ legs, firstLeg, lastCalled, charges, toolCalls }: AttemptLog): boolean {
  const isOnly = legs.length === 1 && legs[0] === firstLeg && lastCalled !== undefined;
  return isOnly && charges.length + toolCalls.length === 0;
}

/** Members of a row that list what it does not describe itself. */
type ListedMembers = Pick<GenerationRow, 'legs' | 'charges' | 'tool_calls'>;

/** Legs listed in a record; the rest is only counted. */
const MAX_RECORDED_LEGS = 100;

/** Legs and charges, unless the row itself describes them. */
export function listed(attemptLog: AttemptLog, legs: readonly LegSoFar[]): ListedMembers {
  return isPlain(attemptLog) ? {} : legsAndCharges(attemptLog, legs);
}

export function legsAndCharges({ charges, toolCalls }: AttemptLog, legs: readonly LegSoFar[]): ListedMembers {
  return {
    legs: legs.slice(0, MAX_RECORDED_LEGS).map(legRow),
    ...(charges.length > 0 && { charges: chargeRows(charges) }),
    ...(toolCalls.length > 0 && { tool_calls: toolCalls.slice(0, MAX_RECORDED_TOOL_CALLS).map(toolCallRow) }),
  };
}

/** Tool calls listed in a record; the rest is only counted. */
const MAX_RECORDED_TOOL_CALLS = 200;

function toolCallRow(call: ToolCallRecord): ToolCallRow {
  return {
    name: short(call.name),
    leg: call.leg,
    started_at: new Date(call.startedAtMs).toISOString(),
    duration_ms: Math.round(call.durationMs),
    outcome: call.end,
    cost_nanos: String(call.nanos),
    input_characters: call.inputCharacters,
    output_characters: call.outputCharacters,
    ...(call.error !== undefined && { error: short(call.error) }),
    ...(call.spanId !== undefined && { span_id: call.spanId }),
  };
}

function legRow({ leg, usage, bill, status }: LegSoFar): LegRow {
  const called = leg.selected ?? leg.lastCalled;
  const { startedAtMs, endedAtMs } = leg;
  return {
    kind: leg.kind,
    ...(leg.toolCall !== undefined && { tool_call: leg.toolCall }),
    model: short(called?.model.id ?? leg.plan.requested),
    provider_name: called?.endpoint.provider.name ?? null,
    ...(startedAtMs !== undefined && { started_at: new Date(startedAtMs).toISOString() }),
    ...(startedAtMs !== undefined &&
      endedAtMs !== undefined && { duration_ms: Math.max(0, endedAtMs - startedAtMs) }),
    tokens_prompt: usage.inputTokens,
    tokens_completion: usage.outputTokens,
    cost_nanos: String(bill.totalNanos),
    status,
  };
}

/** Upstream calls of a record that keep what their provider said of its failure. */
const MAX_MESSAGES = 32;

function messageOf(failure: NonNullable<CallRecord['failure']>): Pick<ProviderResponse, 'provider_message'> {
  const message = failure instanceof UpstreamFailure ? failure.providerMessage : undefined;
  return message === undefined ? {} : { provider_message: message };
}

export function providerResponses(
  { calls, legs }: AttemptLog,
  served: Candidate | undefined,
  upstreamId: string | undefined,
): ProviderResponse[] | null {
  if (calls.length === 0) return null;
  const firstStartMs = calls[0]?.startedMs ?? 0;
  return calls.map((call, index) => {
    const { candidate, status, answered, latencyMs, startedMs, spanId, cooldownMs, failure } = call;
    const tier = tierOf(candidate.endpoint);
    const isServing = candidate === served && index === calls.length - 1;
    return {
      provider_name: candidate.endpoint.provider.name,
      endpoint_id: candidate.endpoint.tag,
      ...(isServing && upstreamId !== undefined && { id: short(upstreamId) }),
      model_permaslug: short(candidate.model.canonicalSlug ?? candidate.model.id),
      status,
      ...(answered === null && { unanswered: true as const }),
      ...(failure !== undefined && index < MAX_MESSAGES && messageOf(failure)),
      latency: wholeMs(latencyMs),
      is_byok: candidate.access.kind === 'byok',
      ...(tier !== undefined && { routed_service_tier: tier }),
      ...(startedMs > firstStartMs && { started_ms: wholeMs(startedMs - firstStartMs) }),
      ...(legs.length > 1 && { leg: legs.findIndex((leg) => leg.calls.includes(call)) + 1 }),
      ...(spanId !== undefined && { span_id: spanId }),
      ...(cooldownMs !== undefined && { cooldown_ms: wholeMs(cooldownMs) }),
    };
  });
}
