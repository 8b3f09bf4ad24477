import type { GuardrailTrial, GuardrailVerdict } from '../../contract/guardrails/trial.ts';
import { SharedTurn } from '../../kit/loop/turns.ts';
import { FILTER_ACTIONS, type FilterAction, type Guardrail } from '../../ports/tenancy/guardrails.ts';
import { preparedFilters } from '../../stages/guardrails/filters/filter-set.ts';
import { redacted } from '../../stages/guardrails/filters/finding.ts';
import type { JudgesFor } from '../../stages/guardrails/judges/judge.ts';
import { JudgePanel } from '../../stages/guardrails/judges/judge-panel.ts';

const VERDICTS = { block: 'blocked', redact: 'redacted', flag: 'flagged' } as const satisfies Record<
  FilterAction,
  GuardrailVerdict['action']
>;

/** Limit for a whole trial, services included. */
const MAX_TRIAL_MS = 60_000;

export async function tryGuardrail(
  guardrail: Guardrail,
  { text, direction = 'sent', role = 'user' }: Pick<GuardrailTrial, 'text' | 'direction' | 'role'>,
  judgesFor: JudgesFor,
): Promise<GuardrailVerdict> {
  const applied = [{ guardrail, scope: 'api-key' as const }];
  const signal = AbortSignal.timeout(MAX_TRIAL_MS);
  const turn = new SharedTurn(signal);
  const filters = await turn.run(preparedFilters(applied));
  const findings = await turn.run(filters.scanInSlices(text, { direction, role }));
  let result = redacted(text, findings);
  const failures: GuardrailVerdict['failures'] = [];
  if (!findings.some(({ action }) => action === 'block')) {
    const panel = new JudgePanel(
      judgesFor(applied, null),
      {
        found: (found) => void findings.push(...found),
        failed: ({ engine, onFailure }, _, { message }) =>
          void failures.push({ engine, on_failure: onFailure, reason: message }),
      },
      signal,
    );
    const { texts } = await panel.judge([{ text: result, role, place: 'text' }], direction);
    result = texts[0] ?? result;
  }
  const isRefused = failures.some(({ on_failure }) => on_failure === 'closed');
  const strictest = isRefused
    ? 'block'
    : FILTER_ACTIONS.find((action) => findings.some((finding) => finding.action === action));
  return {
    action: strictest === undefined ? 'allowed' : VERDICTS[strictest],
    text: result,
    findings: findings.map(({ name, label, kind, engine, action, start, end, text, redaction }) => ({
      name,
      label,
      kind,
      engine,
      action,
      start,
      end,
      text,
      redaction,
    })),
    failures,
  };
}
