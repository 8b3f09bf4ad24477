import type { Format } from '../../ir/items.ts';
import type { GenerationRequest, ReasoningSettings } from '../../ir/request.ts';
import type { JsonObject } from '../../kit/json.ts';
import { objectAt, textAt } from '../../kit/members.ts';
import type { RenderTarget } from '../dialect.ts';
import { effortNearest, effortOf } from '../reasoning-effort.ts';
import type { Report } from '../report.ts';
import { NO_FIELD } from './losses.ts';
import { NOT_TAKEN, takes } from './supported.ts';

type Setting = Exclude<keyof ReasoningSettings, 'exclude'>;

const REASONING_PATHS: Readonly<Partial<Record<Setting, string>>> = {
  effort: 'reasoning.effort',
  budgetTokens: 'reasoning.max_tokens',
  enabled: 'reasoning.enabled',
  summary: 'reasoning.summary',
  context: 'reasoning.context',
  mode: 'reasoning.mode',
};

/** Where callers write the settings. What they ask of the answer's shape (`exclude`) the gateway does itself. */
const PATHS: Readonly<Record<Format, Readonly<Partial<Record<Setting, string>>>>> = {
  responses: REASONING_PATHS,
  chat: REASONING_PATHS,
  messages: {
    effort: 'output_config.effort',
    budgetTokens: 'thinking.budget_tokens',
    enabled: 'thinking.type',
    adaptive: 'thinking.type',
    display: 'thinking.display',
  },
};

const SETTINGS: readonly Setting[] = [
  'effort',
  'budgetTokens',
  'enabled',
  'adaptive',
  'summary',
  'display',
  'context',
  'mode',
];

/** What of the settings has no word in the chat format. */
const UNSENT: readonly Setting[] = ['adaptive', 'summary', 'display', 'context', 'mode'];

/** Output limit that a budget is measured against when nobody gave one, tokens. */
const DEFAULT_LIMIT = 32_000;

/** The reasoning settings as the one word that chat upstreams take. */
export function renderReasoning(
  request: GenerationRequest,
  target: RenderTarget,
  report: Report,
): JsonObject {
  const { reasoning: settings, maxOutputTokens } = request;
  if (settings === undefined) return {};
  const drop = (lost: readonly Setting[], detail: string) => {
    for (const setting of lost) {
      if (isAsked(setting, settings)) report.dropped(pathOf(setting, request), detail);
    }
  };
  if (!takes('reasoning_effort', target)) {
    drop(SETTINGS, NOT_TAKEN);
    return {};
  }
  drop(UNSENT, NO_FIELD);
  const effort = effortOf(settings);
  if (effort !== undefined) {
    drop(['budgetTokens'], `chat upstreams take no budget; effort ${effort} is sent`);
    return { reasoning_effort: effort };
  }
  if (settings.budgetTokens === undefined) return {};
  const limit = maxOutputTokens ?? target.maxOutputTokens ?? DEFAULT_LIMIT;
  const nearest = effortNearest(settings.budgetTokens, limit);
  report.coerced(pathOf('budgetTokens', request), `a budget in tokens is sent as effort ${nearest}`);
  return { reasoning_effort: nearest };
}

/** Thoughts that are not to be shown the gateway leaves out of the answer itself. */
function isAsked(setting: Setting, settings: ReasoningSettings): boolean {
  return setting === 'display' ? settings.display === 'summarized' : settings[setting] !== undefined;
}

function pathOf(setting: Setting, request: GenerationRequest): string {
  const isShortForm =
    setting === 'effort' &&
    request.format === 'chat' &&
    textAt(objectAt(request.body, 'reasoning'), 'effort') === undefined;
  return isShortForm ? 'reasoning_effort' : (PATHS[request.format][setting] ?? 'reasoning');
}
