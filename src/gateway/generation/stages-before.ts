import { GatewayError } from '../../ir/errors.ts';
import { LedgerUnavailable } from '../../ports/money/ledger.ts';
import type { ServedAnswer } from '../../stages/stage.ts';
import { Prompt } from '../../tokens/prompt.ts';
import { unrecordable } from '../admission/admit.ts';
import { type PlanDependencies, planLeg } from '../plan/plan-leg.ts';
import { AttemptLog, routingMetadata } from '../record/attempt-log.ts';
import type { AcceptedGeneration } from './accepted-generation.ts';
import { type ServedDependencies, ServedGeneration } from './served-generation.ts';
import { settleRefused, type UnservedDependencies, unservedGeneration, unservedOf } from './unserved.ts';

export type RefusalDependencies = UnservedDependencies & PlanDependencies;

/** The generation after its stages, or the answer of one of them. A refusal is recorded. */
export async function runStagesBefore(
  accepted: AcceptedGeneration,
  dependencies: RefusalDependencies,
): Promise<AcceptedGeneration | { readonly served: ServedAnswer }> {
  const { stages, request, content } = accepted;
  try {
    const outcome = await stages.before(request);
    if ('served' in outcome) return outcome;
    // A changed prompt is counted again.
    return outcome.request === request
      ? accepted
      : { ...accepted, request: outcome.request, prompt: new Prompt(outcome.request) };
  } catch (error) {
    void content.close();
    throw await recordedRefusal(accepted, await withRouting(error, accepted, dependencies), dependencies);
  }
}

export async function recordServed(
  accepted: AcceptedGeneration,
  served: ServedAnswer,
  dependencies: ServedDependencies,
): Promise<ServedGeneration> {
  const { settings, content } = accepted;
  void content.close();
  try {
    const { vendor } = settings;
    return await ServedGeneration.settle({ ...unservedOf(accepted), served, vendor }, dependencies);
  } catch (error) {
    throw error instanceof LedgerUnavailable ? unrecordable(error) : error;
  }
}

/**
 * The refusal with the routing metadata that the caller asked for: where the request could have gone, and what stages
 * did.
 */
async function withRouting(
  error: unknown,
  accepted: AcceptedGeneration,
  dependencies: RefusalDependencies,
): Promise<unknown> {
  const { input, settings, stages, reservation } = accepted;
  if (!input.wantsMetadata || !(error instanceof GatewayError)) return error;
  try {
    const { plan } = await planLeg(accepted, input, settings, stages.mayRelay, dependencies);
    const attemptLog = new AttemptLog(plan, stages.notes, reservation.charges);
    return error.withRouting(routingMetadata(attemptLog, settings.region, 'failed'));
  } catch {
    // It could have gone nowhere: the refusal says enough.
    const { attemptLog } = unservedGeneration(unservedOf(accepted), accepted.request.models[0] ?? '');
    return error.withRouting(routingMetadata(attemptLog, settings.region, 'failed'));
  }
}

/** The refusal itself, once it is recorded; else the reason why it could not be. */
async function recordedRefusal(
  accepted: AcceptedGeneration,
  error: unknown,
  dependencies: UnservedDependencies,
): Promise<unknown> {
  try {
    await settleRefused(unservedOf(accepted), error, dependencies);
    return error;
  } catch (late) {
    return late instanceof LedgerUnavailable ? unrecordable(late) : late;
  }
}
