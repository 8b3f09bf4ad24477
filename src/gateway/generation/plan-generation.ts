import { GatewayError } from '../../ir/errors.ts';
import type { GenerationRequest } from '../../ir/request.ts';
import { andThen, orElse } from '../../kit/loop/and-then.ts';
import type { Prompt } from '../../tokens/prompt.ts';
import type { Underway } from '../answer/underway.ts';
import { NothingLeft, type Plan } from '../plan/plan.ts';
import { planCompressed } from '../plan/plan-compressed.ts';
import { planLeg } from '../plan/plan-leg.ts';
import { AttemptLog, metadataOfNothing } from '../record/attempt-log.ts';
import type { AcceptedGeneration } from './accepted-generation.ts';
import type { GatewayDependencies } from './gateway-dependencies.ts';
import { settleCharges } from './unserved.ts';

/** Plans the first leg of a generation. If there is no plan, charges of stages are settled. */
export function planGeneration(
  accepted: AcceptedGeneration,
  dependencies: GatewayDependencies,
  planFirst: typeof planCompressed = planCompressed,
): Underway | Promise<Underway> {
  const { input, settings, stages, content, reservation } = accepted;
  return orElse<Underway>(
    () =>
      andThen(
        planFirst(accepted, input, settings, stages.mayRelay, dependencies),
        ({ request, prompt, plan }) => ({
          input,
          settings,
          request,
          prompt,
          attemptLog: new AttemptLog(plan, stages.notes, reservation.charges, reservation.toolCalls),
          stages,
          reservation,
          planFurther: furtherPlanner(accepted, dependencies),
          content,
        }),
      ),
    (error) => refuseUnplanned(error, accepted, dependencies),
  );
}

async function refuseUnplanned(
  error: unknown,
  accepted: AcceptedGeneration,
  dependencies: GatewayDependencies,
): Promise<never> {
  const { input, settings, stages, content } = accepted;
  void content.close();
  const failure =
    input.wantsMetadata && error instanceof NothingLeft
      ? error.withRouting(metadataOfNothing(error, settings.region))
      : error;
  const isByGuardrail = error instanceof NothingLeft && error.kind === 'permission';
  await settleCharges(accepted, failure, dependencies, { isByGuardrail });
  throw failure instanceof GatewayError ? stages.explained(failure) : failure;
}

/**
 * Plans further legs with the settings of the first. A request made by a stage is not the caller's body, so it is
 * never relayed.
 */
function furtherPlanner(
  { input, settings }: AcceptedGeneration,
  dependencies: GatewayDependencies,
): (request: GenerationRequest, prompt: Prompt) => Promise<Plan> {
  return async (request, prompt) => {
    const asked = { ...input, body: { ...input.body, model: request.models[0] ?? '' } };
    const { plan } = await planLeg({ request, prompt, report: [] }, asked, settings, false, dependencies);
    return plan;
  };
}
