import { FREE } from '../../catalog/prices/bill.ts';
import { toGatewayError } from '../../ir/errors.ts';
import type { PipelineEntry } from '../../ir/metadata.ts';
import type { GenerationRequest } from '../../ir/request.ts';
import { NO_USAGE } from '../../ir/usage.ts';
import type { Clock } from '../../kit/time/clock.ts';
import { type GenerationLedger, LedgerUnavailable } from '../../ports/money/ledger.ts';
import type { GenerationReservation } from '../admission/reservation.ts';
import { AttemptLog } from '../record/attempt-log.ts';
import {
  acceptedRow,
  type GenerationTimes,
  type PlannedGeneration,
  settledRow,
} from '../record/generation-row.ts';
import { type Refusals, refusalOfGeneration } from '../record/refused-row.ts';
import type { Settlement } from '../record/settle.ts';
import type { GenerationInput } from '../request/generation-input.ts';

export interface UnservedDependencies {
  readonly ledger: GenerationLedger;
  readonly clock: Clock;
  readonly onSettled: (generation: PlannedGeneration, settlement: Settlement, times: GenerationTimes) => void;
  readonly onUnrecorded: (generation: PlannedGeneration, settlement: Settlement) => void;
  readonly refusals?: Refusals | undefined;
}

export interface UnservedRequest {
  readonly input: GenerationInput;
  readonly request: GenerationRequest;
  readonly region: string | null;
  readonly reservation: GenerationReservation;
  readonly notes: readonly PipelineEntry[];
}

/** A generation for which stages may have charged something before any model served it. */
interface Charged extends Pick<UnservedRequest, 'input' | 'request' | 'reservation'> {
  readonly stages: { readonly notes: readonly PipelineEntry[] };
  readonly settings: { readonly region: string | null };
}

export function unservedOf({ input, request, reservation, stages, settings }: Charged): UnservedRequest {
  return { input, request, region: settings.region, reservation, notes: stages.notes };
}

/** The record of a generation that was never routed. `model`: as the reply names it. */
export function unservedGeneration(
  { input, request, region, reservation, notes }: UnservedRequest,
  model: string,
): PlannedGeneration {
  const plan = {
    requested: model,
    strategy: 'direct',
    candidates: [],
    rejected: [],
    pipeline: [],
    report: [],
  } as const;
  return {
    input,
    request,
    region,
    attemptLog: new AttemptLog(plan, notes, reservation.charges, reservation.toolCalls),
  };
}

/**
 * Settles a generation that no model served: it costs only its charges. One that the ledger does not know yet costs
 * nothing, and its entry in the ledger passes every limit. Rejects with LedgerUnavailable.
 */
export async function settleUnserved(
  generation: PlannedGeneration,
  settlement: Settlement,
  reservation: GenerationReservation,
  { ledger, clock, onSettled }: UnservedDependencies,
): Promise<void> {
  const { input } = generation;
  const endMs = Math.max(0, clock.now() - input.acceptedAtMs);
  const times = { firstContentMs: endMs, endMs };
  await reservation.open(() => acceptedRow(generation));
  reservation.close();
  const row = settledRow(generation, settlement, times);
  const { charged: used, writeOffs: uncharged } = reservation;
  await ledger.settle(input.generationId, { used, uncharged, row, atMs: clock.now() });
  onSettled(generation, settlement, times);
}

/** Records a generation that a stage refused, or that failed after something was charged. */
export function settleRefused(
  asked: UnservedRequest,
  error: unknown,
  dependencies: UnservedDependencies,
): Promise<void> {
  const { generation, settlement } = refused(asked, error);
  return settleUnserved(generation, settlement, asked.reservation, dependencies);
}

function refused(asked: UnservedRequest, error: unknown) {
  const { input, request, reservation } = asked;
  const isLeft = input.signal.aborted && input.signal.reason === error;
  const settlement: Settlement = {
    usage: NO_USAGE,
    bill: { ...FREE, totalNanos: reservation.charged.creditNanos },
    outcome: isLeft ? 'aborted' : 'failed',
    result: { items: [] },
    ...(!isLeft && { error: toGatewayError(error) }),
  };
  return { generation: unservedGeneration(asked, request.models[0] ?? ''), settlement };
}

/**
 * Ends a generation that fails after its stages. Their charges are settled. Without charges it has no record in the
 * ledger, unless a guardrail refused it, but it is noted as refused.
 */
export async function settleCharges(
  charged: Charged,
  error: unknown,
  dependencies: UnservedDependencies,
  { isByGuardrail }: { readonly isByGuardrail: boolean },
): Promise<void> {
  if (!charged.reservation.isOpen && !isByGuardrail) {
    const { generation, settlement } = refused(unservedOf(charged), error);
    dependencies.onUnrecorded(generation, settlement);
    const { outcome } = settlement;
    if (outcome === 'failed') {
      dependencies.refusals?.note(refusalOfGeneration(generation, settlement), settlement.error);
    }
    return;
  }
  // The ledger records it as soon as it can; the caller gets the reason why there is no answer.
  await settleRefused(unservedOf(charged), error, dependencies).catch((late: unknown) => {
    if (!(late instanceof LedgerUnavailable)) throw late;
  });
}
