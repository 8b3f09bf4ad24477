import { conversationForm, type ReasoningSetting } from '../../ir/format-facts.ts';
import type { GenerationRequest } from '../../ir/request.ts';
import type { Effort, ReasoningSettings } from '../../ir/settings.ts';
import { isJsonObject, type JsonObject } from '../../kit/json/json.ts';
import { compact, objectAt } from '../../kit/json/members.ts';
import type { RenderTarget } from '../dialect.ts';
import {
  effortNearest,
  effortOf,
  effortWithin,
  nearestEffortDetail,
  thinkingLimit,
} from '../shared/reasoning/reasoning-effort.ts';
import { effortName } from '../shared/reasoning/reasoning-names.ts';
import { NOT_TAKEN } from '../shared/report/field-fates.ts';
import { VALUE_PASSED_ON } from '../shared/report/passed-on-fields.ts';
import type { Report } from '../shared/report/report.ts';
import { NO_CHAT_FIELD, takes } from './render-losses.ts';

const HIGHEST_EFFORT: Effort = 'high';

/** Report detail of an effort or a budget at providers that only switch thinking on or off. */
const ON_OR_OFF = 'the provider knows thinking on or off: it is sent as on';

/** The reasoning settings for the provider: mostly one word. */
export function renderReasoning(
  request: GenerationRequest,
  target: RenderTarget,
  report: Report,
): JsonObject {
  const { reasoning: settings } = request;
  reportOwnEffort(request, target, report);
  if (settings === undefined) return {};
  const drop = (lost: readonly ReasoningSetting[], detail: string) => {
    for (const setting of lost) {
      if (isAsked(setting, settings)) report.dropped(pathOf(setting, request), detail);
    }
  };
  const coerce = (changed: readonly ReasoningSetting[], detail: string) => {
    for (const setting of changed) {
      if (isAsked(setting, settings)) report.coerced(pathOf(setting, request), detail);
    }
  };
  if (!takes('reasoning', target)) {
    drop(SETTINGS, NOT_TAKEN);
    return {};
  }
  drop(UNSENT, NO_CHAT_FIELD);
  const form = target.quirks?.thinkingField ?? 'reasoning_effort';
  const effort = effortOf(settings);
  const budget = settings.budgetTokens;
  if (effort === undefined && budget === undefined) return {};
  const isOn = effort !== 'none';
  const known = (asked: Effort) => {
    const sent = effortWithin(asked, HIGHEST_EFFORT, target);
    if (sent !== asked) coerce(['effort'], nearestEffortDetail(sent));
    return sent;
  };
  switch (form) {
    case 'reasoning':
      if (!isOn) return { reasoning: { enabled: false } };
      if (effort === undefined) return { reasoning: { max_tokens: budget } };
      drop(['budgetTokens'], `effort ${known(effort)} is sent`);
      return { reasoning: { effort: known(effort) } };
    case 'thinking':
      if (isOn) coerce(['effort', 'budgetTokens'], ON_OR_OFF);
      return { thinking: { type: isOn ? 'enabled' : 'disabled' } };
    case 'enable_thinking':
      if (isOn) coerce(['effort'], ON_OR_OFF);
      return compact({ enable_thinking: isOn, thinking_budget: isOn ? budget : undefined });
    case 'reasoning_effort': {
      if (effort !== undefined) {
        drop(['budgetTokens'], `chat upstreams take no budget; effort ${known(effort)} is sent`);
        return { reasoning_effort: known(effort) };
      }
      const limit = thinkingLimit(request, target);
      const nearest = effortNearest(budget ?? 0, limit);
      coerce(['budgetTokens'], `a budget in tokens is sent as effort ${nearest}`);
      return { reasoning_effort: nearest };
    }
  }
}

/** A word in `reasoning` that the gateway does not know is sent under the name that all chat upstreams know. */
function reportOwnEffort({ body, ext }: GenerationRequest, target: RenderTarget, report: Report): void {
  const own = ext.chat?.reasoning_effort;
  if (own === undefined || !takes('reasoning', target)) return;
  if (objectAt(body, 'reasoning')?.effort === own) report.passedOn('reasoning.effort', VALUE_PASSED_ON);
}

// --- Settings without a field ---------------------------------------------------------------------------------------

const SETTINGS: readonly ReasoningSetting[] = [
  'effort',
  'budgetTokens',
  'enabled',
  'adaptive',
  'summary',
  'display',
  'context',
  'mode',
];

const UNSENT: readonly ReasoningSetting[] = ['adaptive', 'summary', 'display', 'context', 'mode'];

/** False for settings that only hide thoughts: the gateway removes those from the answer itself. */
function isAsked(setting: ReasoningSetting, settings: ReasoningSettings): boolean {
  return setting === 'display' ? settings.display === 'summarized' : settings[setting] !== undefined;
}

function pathOf(setting: ReasoningSetting, request: GenerationRequest): string {
  if (setting === 'effort') return effortName(request);
  return conversationForm(request.formatFacts).reasoning.places[setting] ?? 'reasoning';
}

// --- Relay lane -----------------------------------------------------------------------------------------------------

/** Relay lane: the caller's own reasoning settings, if the provider has other names for them. */
export function relayReasoning(
  request: GenerationRequest,
  target: RenderTarget,
  report: Report,
): JsonObject | undefined {
  const { reasoning, reasoning_effort: given } = request.body;
  const effort = request.reasoning?.effort;
  const isUnknown = effort !== undefined && effortWithin(effort, HIGHEST_EFFORT, target) !== effort;
  const isForeign = isUnknown || target.quirks?.thinkingField !== undefined;
  if (!isJsonObject(reasoning) && !(given && isForeign)) return undefined;
  const own = takes('reasoning', target) ? request.ext.chat?.reasoning_effort : undefined;
  return { reasoning: undefined, reasoning_effort: own, ...renderReasoning(request, target, report) };
}
