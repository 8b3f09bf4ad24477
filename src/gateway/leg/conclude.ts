import type { GatewayError } from '../../ir/errors.ts';
import type { LegStatus } from '../../ir/leg.ts';
import type { GenerationRequest } from '../../ir/request.ts';
import type { Result } from '../../ir/result.ts';
import type { Bill, Usage } from '../../ir/usage.ts';
import { mayPin } from '../../routing/conversation/may-pin.ts';
import type { Pins } from '../../routing/conversation/pins.ts';
import { judgeToolCalls } from '../../routing/health/tool-call-quality.ts';
import { siteOf } from '../../routing/rules/candidate.ts';
import type { Traffic } from '../../routing/traffic.ts';
import { UpstreamFailure } from '../../upstream/upstream.ts';
import { blameOf } from './blame.ts';
import type { Leg } from './leg.ts';

export interface OutcomeMemory {
  readonly pins: Pins;
  readonly traffic: Traffic;
}

export interface Concluded {
  readonly status: LegStatus;
  readonly usage: Usage;
  readonly bill: Bill;
  readonly result: Result;
  readonly error: GatewayError | undefined;
}

/** Reports the outcome of a leg to routing: the endpoint's health, the conversation's pin, the model's real cost. */
export function conclude(
  request: GenerationRequest,
  leg: Leg,
  { status, usage, bill, result, error }: Concluded,
  { pins, traffic }: OutcomeMemory,
): void {
  const { selected, ticket, plan } = leg;
  if (selected === undefined || ticket === undefined) return;
  if (status === 'cancelled') ticket.abandoned();
  if (status === 'failed') ticket.failed(error instanceof UpstreamFailure ? blameOf(error) : BROKEN_OFF);
  if (status !== 'completed') return;
  ticket.succeeded({
    outputTokens: usage.outputTokens,
    // An incomplete answer says nothing about tool calls.
    toolCalls: result.omitted === undefined ? judgeToolCalls(request, result.items) : 'none',
  });
  const { model, endpoint, access } = selected;
  // Reports to the owner of a BYOK credential must not influence the requests of others.
  if (access.kind === 'shared') {
    traffic.add(model.id, {
      inputTokens: usage.inputTokens,
      outputTokens: usage.outputTokens,
      costNanos: bill.inputNanos + bill.outputNanos,
    });
  }
  const { conversation } = plan;
  const hasOrder = request.wishes.provider.order !== undefined;
  if (conversation !== undefined && mayPin({ kind: conversation.kind, usage, endpoint, hasOrder })) {
    pins.pin(conversation.key, { site: siteOf(endpoint, access), modelId: model.id });
  }
}

/** An answer that broke off without an error from the endpoint. */
const BROKEN_OFF = { counts: true, isRateLimit: false } as const;
