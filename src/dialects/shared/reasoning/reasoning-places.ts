import type { Format } from '../../../ir/items.ts';
import type { ReasoningSettings } from '../../../ir/request.ts';

/** Settings that callers write somewhere. What they ask of the answer's shape (`exclude`) the gateway does itself. */
export type ReasoningSetting = Exclude<keyof ReasoningSettings, 'exclude'>;

/** Settings that both ways of asking for thoughts have. */
type CommonSetting = 'effort' | 'budgetTokens' | 'enabled';

type Places = Readonly<Record<CommonSetting, string> & Partial<Record<ReasoningSetting, string>>>;

const IN_REASONING: Places = {
  effort: 'reasoning.effort',
  budgetTokens: 'reasoning.max_tokens',
  enabled: 'reasoning.enabled',
  summary: 'reasoning.summary',
  context: 'reasoning.context',
  mode: 'reasoning.mode',
};

/** Where each format writes the settings. */
export const REASONING_PLACES: Readonly<Record<Format, Places>> = {
  responses: IN_REASONING,
  chat: IN_REASONING,
  messages: {
    effort: 'output_config.effort',
    budgetTokens: 'thinking.budget_tokens',
    enabled: 'thinking.type',
    adaptive: 'thinking.type',
    display: 'thinking.display',
  },
};
