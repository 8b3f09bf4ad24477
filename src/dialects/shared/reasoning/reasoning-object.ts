import type { DecidingSetting, ReasoningForm } from '../../../ir/format-facts.ts';
import { membersBeyond, objectAt } from '../../../kit/json/members.ts';

/** Names of the settings inside `reasoning`. */
const MEMBERS: Readonly<Record<DecidingSetting, string>> = {
  effort: 'effort',
  budgetTokens: 'max_tokens',
  enabled: 'enabled',
};

/** Thinking requested in the object `reasoning`, as in the responses and chat formats. */
export const IN_REASONING: ReasoningForm = {
  places: {
    effort: 'reasoning.effort',
    budgetTokens: 'reasoning.max_tokens',
    enabled: 'reasoning.enabled',
    summary: 'reasoning.summary',
    context: 'reasoning.context',
    mode: 'reasoning.mode',
  },
  fields: ['reasoning'],
  withEffort(body, replaced, effort) {
    const kept = membersBeyond(objectAt(body, 'reasoning') ?? {}, new Set([MEMBERS[replaced]]));
    return { ...body, reasoning: { ...kept, effort } };
  },
  withoutBudget(body) {
    const kept = membersBeyond(objectAt(body, 'reasoning') ?? {}, new Set([MEMBERS.budgetTokens]));
    return { ...body, reasoning: kept ?? null };
  },
};
