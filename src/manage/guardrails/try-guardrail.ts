import type { GuardrailTrial, GuardrailVerdict } from '../../contract/guardrails/trial.ts';
import { runInTurns } from '../../kit/loop/turns.ts';
import { FILTER_ACTIONS, type FilterAction, type Guardrail } from '../../ports/guardrails.ts';
import { compileFilters } from '../../stages/guardrails/filters/filter-set.ts';
import { redacted } from '../../stages/guardrails/filters/finding.ts';
import { SERVED_SLUGS } from './guardrail-issues.ts';

const VERDICTS = { block: 'blocked', redact: 'redacted', flag: 'flagged' } as const satisfies Record<
  FilterAction,
  GuardrailVerdict['action']
>;

/** What the filters of a guardrail say of a text, without calling a model or a service. */
export async function tryGuardrail(
  guardrail: Guardrail,
  { text, direction = 'sent', role = 'user' }: GuardrailTrial,
): Promise<GuardrailVerdict> {
  const filters = compileFilters([{ guardrail, scope: 'api-key' }]);
  const findings = await runInTurns(filters.scanInSlices(text, { direction, role }));
  const strictest = FILTER_ACTIONS.find((action) => findings.some((finding) => finding.action === action));
  return {
    action: strictest === undefined ? 'allowed' : VERDICTS[strictest],
    text: redacted(text, findings),
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
    skipped: skippedFilters(guardrail),
  };
}

function skippedFilters({ builtins, service }: Guardrail): string[] {
  const served = (builtins ?? []).map(({ slug }) => slug).filter((slug) => SERVED_SLUGS.has(slug));
  return [...served, ...(service === null ? [] : ['service'])];
}
