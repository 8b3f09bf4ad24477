import { GatewayError } from '../../ir/errors.ts';
import { LedgerUnavailable } from '../../ports/ledger.ts';
import type { ServedAnswer } from '../../stages/stage.ts';
import { Prompt } from '../../tokens/prompt.ts';
import { unrecordable } from '../admission/admit.ts';
import type { AcceptedGeneration } from './accepted-generation.ts';
import { routingMetadata } from './attempt-log.ts';
import { ServedGeneration, type ServedParts } from './served-generation.ts';
import { settleRefused, type UnservedParts, unservedGeneration, unservedOf } from './unserved.ts';

/** The generation after its stages, or the answer of one of them. A refusal is recorded. */
export async function runStagesBefore(
  accepted: AcceptedGeneration,
  parts: UnservedParts,
): Promise<AcceptedGeneration | { readonly served: ServedAnswer }> {
  const { stages, request, content } = accepted;
  if (stages.isEmpty) return accepted;
  try {
    const outcome = await stages.before(request);
    if ('served' in outcome) return outcome;
    // A changed prompt is counted again.
    return outcome.request === request
      ? accepted
      : { ...accepted, request: outcome.request, prompt: new Prompt(outcome.request) };
  } catch (error) {
    void content.close();
    throw await recordedRefusal(accepted, error, parts);
  }
}

/** Records the answer of a stage. */
export async function recordServed(
  accepted: AcceptedGeneration,
  served: ServedAnswer,
  parts: ServedParts,
): Promise<ServedGeneration> {
  const { settings, content } = accepted;
  void content.close();
  try {
    const { vendor } = settings;
    return await ServedGeneration.settle({ ...unservedOf(accepted), served, vendor }, parts);
  } catch (error) {
    throw error instanceof LedgerUnavailable ? unrecordable(error) : error;
  }
}

/** A refusal with the pipeline entries of stages, if the caller asked for routing metadata. */
function withPipeline(error: unknown, accepted: AcceptedGeneration): unknown {
  const { input, request, settings } = accepted;
  if (!input.wantsMetadata || !(error instanceof GatewayError)) return error;
  const { attemptLog } = unservedGeneration(unservedOf(accepted), request.models[0] ?? '');
  return error.withRouting(routingMetadata(attemptLog, settings.region, 'failed'));
}

/** The refusal itself, once it is recorded; else the reason why it could not be. */
async function recordedRefusal(
  accepted: AcceptedGeneration,
  error: unknown,
  parts: UnservedParts,
): Promise<unknown> {
  try {
    await settleRefused(unservedOf(accepted), error, parts);
    return withPipeline(error, accepted);
  } catch (late) {
    return late instanceof LedgerUnavailable ? unrecordable(late) : late;
  }
}
