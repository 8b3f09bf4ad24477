import type { Log } from '../../kit/log/log.ts';
import { usdOf } from '../../kit/money.ts';
import type { Clock } from '../../kit/time/clock.ts';
import type { PlannedGeneration } from './generation-row.ts';
import type { Settlement } from './settle.ts';

/** Writes one line for each generation that has ended: who, where, how much. Never what was said. */
export function generationLog(log: Log, clock: Clock) {
  return ({ input, attemptLog }: PlannedGeneration, settlement: Settlement): void => {
    const { usage, bill, outcome, error, result } = settlement;
    log.info('generation', {
      id: input.generationId,
      outcome,
      format: input.format,
      model: attemptLog.selected?.model.id ?? attemptLog.plan.requested,
      provider: attemptLog.selected?.endpoint.provider.slug,
      lane: attemptLog.selected?.lane,
      attempts: attemptLog.attempts.length,
      finish_reason: result.finish?.reason,
      error_kind: error?.kind,
      input_tokens: usage.inputTokens,
      output_tokens: usage.outputTokens,
      usage_source: usage.source,
      cost_usd: usdOf(bill.totalNanos),
      duration_ms: clock.now() - input.acceptedAtMs,
      account: input.caller.accountId,
      workspace: input.caller.workspaceId,
      key: input.caller.key.label,
    });
  };
}
