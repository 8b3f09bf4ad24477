import type { DecidingSetting, ReasoningForm } from '../../../ir/format-facts.ts';
import type { ReasoningSettings } from '../../../ir/settings.ts';
import { booleanAt, membersBeyond, numberAt, objectAt, textAt } from '../../../kit/json/members.ts';
import { SettingTable } from '../requests/setting-table.ts';

/** Settings inside `reasoning`, besides the effort, of which there may be words that the gateway does not know. */
export const REASONING = new SettingTable<ReasoningSettings>({
  budgetTokens: ['max_tokens', numberAt],
  enabled: ['enabled', booleanAt],
  exclude: ['exclude', booleanAt],
  summary: ['summary', textAt],
  context: ['context', textAt],
  mode: ['mode', textAt],
});

/** Names of the settings that decide how much is thought. */
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
