import { DIALECTS } from '../../dialects/dialects.ts';
import type { Admission } from '../admission/admission.ts';
import { admit } from '../admission/admit.ts';
import { GuardrailBudgetExceeded } from '../admission/refused.ts';
import type { AnswerDependencies, AnswerState } from '../answer/answer-dependencies.ts';
import { plannedGeneration, routedError, type Underway } from '../answer/underway.ts';
import { NothingLeft, type Plan } from '../plan/plan.ts';
import { AttemptLog } from '../record/attempt-log.ts';
import { acceptedRow } from '../record/generation-row.ts';
import { settleCharges } from './unserved.ts';

/** A generation whose money is reserved: it must be answered, because that settles it. */
export interface ReservedGeneration {
  readonly underway: Underway;
  readonly admission: Admission;
}

/** Reserves the money for the first leg. From here on the generation counts as open. */
export function reserveGeneration(
  underway: Underway,
  dependencies: AnswerDependencies,
  { learnt, open }: AnswerState,
): Promise<ReservedGeneration> {
  const { input, settings, request, prompt, attemptLog, reservation } = underway;
  const { byokFee } = settings;
  const { tokenizer } = dependencies;
  const row = () => acceptedRow(plannedGeneration(underway));
  const { acceptedAtMs: pricedAtMs } = input;
  return admit(
    { input, request, prompt, plan: attemptLog.plan, pricedAtMs, row },
    { reservation, tokenizer, learnt, byokFee },
  ).then(
    (admission) => {
      open.enter();
      const planned = withPlan(underway, admission.plan);
      return { underway: admission.isTight ? limitable(planned) : planned, admission };
    },
    (error) => refuseUnreserved(error, underway, dependencies),
  );
}

async function refuseUnreserved(
  error: unknown,
  underway: Underway,
  dependencies: AnswerDependencies,
): Promise<never> {
  void underway.content.close();
  await settleCharges(underway, error, dependencies, {
    isByGuardrail: error instanceof GuardrailBudgetExceeded,
  });
  const rejected = error instanceof NothingLeft ? { ...error.plan, candidates: [] } : undefined;
  throw routedError(error, rejected === undefined ? underway : withPlan(underway, rejected));
}

/** The generation with another plan, before anything was called. */
function withPlan(underway: Underway, plan: Plan): Underway {
  const { attemptLog } = underway;
  if (attemptLog.plan === plan) return underway;
  const { notes, charges, toolCalls } = attemptLog;
  return { ...underway, attemptLog: new AttemptLog(plan, notes, charges, toolCalls) };
}

/**
 * The generation so that an answer stays within what is paid for: relayed frames cannot be ended in the middle, so a
 * stream that may have to be cut short is translated, and so is a request in a form that has no limit of output.
 */
function limitable(underway: Underway): Underway {
  const { request, attemptLog } = underway;
  if (!request.stream && DIALECTS[request.format].upstream.takesNoLimit !== true) return underway;
  const candidates = attemptLog.plan.candidates.map((candidate) =>
    candidate.lane === 'relay' ? { ...candidate, lane: 'translate' as const } : candidate,
  );
  return withPlan(underway, { ...attemptLog.plan, candidates });
}
