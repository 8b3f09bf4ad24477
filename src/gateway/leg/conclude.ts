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

/** What remembers how calls went, for the requests to come. */
export interface RoutingMemory {
  readonly pins: Pins;
  readonly traffic: Traffic;
}

/** How a leg ended. */
export interface Concluded {
  readonly status: LegStatus;
  readonly usage: Usage;
  readonly bill: Bill;
  readonly result: Result;
  readonly error: GatewayError | undefined;
}

/** Tells routing how a leg ended: the endpoint's health, the conversation's pin, what the model really costs. */
export function conclude(
  request: GenerationRequest,
  leg: Leg,
  { status, usage, bill, result, error }: Concluded,
  { pins, traffic }: RoutingMemory,
): void {
  const { selected, ticket, plan } = leg;
  if (selected === undefined || ticket === undefined) return;
  if (status === 'cancelled') ticket.abandoned();
  if (status === 'failed') ticket.failed(error instanceof UpstreamFailure ? blameOf(error) : BROKEN_OFF);
  if (status !== 'completed') return;
  ticket.succeeded({
    outputTokens: usage.outputTokens,
    // What is not there whole cannot be judged.
    toolCalls: result.omitted === undefined ? judgeToolCalls(request, result.items) : 'none',
  });
  const { model, endpoint, access } = selected;
  // What an upstream reports to the owner of a credential must not steer the requests of others.
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

/** An answer that ended in the middle, without a word from the endpoint. */
const BROKEN_OFF = { counts: true, isRateLimit: false } as const;
