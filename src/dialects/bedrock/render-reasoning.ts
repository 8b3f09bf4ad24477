import type { Effort, ReasoningSettings } from '../../ir/settings.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { interruptsThoughts, renderClaudeThinking } from '../shared/reasoning/claude-thinking.ts';
import { effortNearest, effortOf, thinkingLimit } from '../shared/reasoning/reasoning-effort.ts';
import { ReasoningNames } from '../shared/reasoning/reasoning-names.ts';
import { cappedLimit } from '../shared/requests/output-limit.ts';
import type { RenderContext, Turn } from './render-context.ts';
import { takes } from './render-losses.ts';

/** Thinking settings for the model, and the output limit that leaves room for them. */
export interface RenderedReasoning {
  /** Absent = the model's own limit. */
  readonly maxTokens?: number;
  /** Members of the additional fields of the request. */
  readonly fields: JsonObject;
  /** The effort of the whole answer, beside its format; absent = none, or one of `fields` has it. */
  readonly effort?: string;
  readonly isThinking: boolean;
}

/** `turns`: the rendered turns, which may forbid thinking. */
export function renderReasoning(context: RenderContext, turns: readonly Turn[]): RenderedReasoning {
  switch (context.traits.reasoning) {
    case 'thinking':
      return asThinking(context, turns);
    case 'reasoningConfig':
      return asConfig(context);
    case 'reasoning_effort':
      return asEffort(context);
    default:
      return asNothing(context);
  }
}

function limitMember({ request, target, report }: RenderContext): { readonly maxTokens?: number } {
  const maxTokens = cappedLimit(request, target, report);
  return maxTokens === undefined ? {} : { maxTokens };
}

function namesOf({ request, report }: RenderContext): ReasoningNames {
  return new ReasoningNames(request, report);
}

// --- By effort ------------------------------------------------------------------------------------------------------

type Word = 'low' | 'medium' | 'high';

const WORDS: Readonly<Record<Exclude<Effort, 'none'>, Word>> = {
  max: 'high',
  xhigh: 'high',
  high: 'high',
  medium: 'medium',
  low: 'low',
  minimal: 'low',
};

function asConfig(context: RenderContext): RenderedReasoning {
  const { request, report } = context;
  const limit = limitMember(context);
  const wanted = wantedEffort(context);
  if (wanted === undefined) return { ...limit, fields: {}, isThinking: false };
  if (wanted === 'none')
    return { ...limit, fields: { reasoningConfig: { type: 'disabled' } }, isThinking: false };
  const { temperature, topP, topK } = request.sampling;
  const isBound = [limit.maxTokens, temperature, topP, topK].some((setting) => setting !== undefined);
  const word = wanted === 'high' && isBound ? 'medium' : wanted;
  if (word !== wanted) {
    const detail =
      'lowered to medium: at its highest effort the model takes neither a limit nor sampling settings';
    report.coerced(namesOf(context).whole(), detail);
  }
  const reasoningConfig = { type: 'enabled', maxReasoningEffort: word };
  return { ...limit, fields: { reasoningConfig }, isThinking: false };
}

function asEffort(context: RenderContext): RenderedReasoning {
  const { report } = context;
  const limit = limitMember(context);
  const wanted = wantedEffort(context);
  if (wanted === 'none') report.coerced(namesOf(context).whole(), 'became low: the model always thinks');
  const word = wanted === 'none' ? 'low' : wanted;
  return { ...limit, fields: word === undefined ? {} : { reasoning_effort: word }, isThinking: false };
}

/** Output limit that a budget is measured against if neither the request nor the catalogue has one, tokens. */
const NOVA_OUTPUT_TOKENS = 16_384;

/** The requested effort as one of the upstream's levels; undefined = none requested. */
function wantedEffort(context: RenderContext): Word | 'none' | undefined {
  const { request, target, report } = context;
  const { reasoning: settings } = request;
  if (settings === undefined) return undefined;
  const names = namesOf(context);
  if (!takes('reasoning', target)) {
    if (isAsked(settings)) for (const name of names.asked(settings)) report.dropped(name, TAKES_NONE);
    return undefined;
  }
  if (settings.enabled === false) return 'none';
  const { budgetTokens } = settings;
  const limit = thinkingLimit(request, target, NOVA_OUTPUT_TOKENS);
  const fromBudget = budgetTokens === undefined ? undefined : effortNearest(budgetTokens, limit);
  const effort = effortOf(settings) ?? fromBudget ?? (settings.adaptive === true ? 'medium' : undefined);
  if (effort === undefined || effort === 'none') return effort;
  const word = WORDS[effort];
  if (settings.effort === undefined && budgetTokens !== undefined) {
    report.coerced(names.of('budgetTokens'), `became the effort ${word}: the model takes no budget`);
  } else if (budgetTokens !== undefined) {
    report.dropped(names.of('budgetTokens'), 'the model takes no budget: the effort decides');
  }
  if (settings.effort !== undefined && word !== effort) {
    report.coerced(names.of('effort'), `became ${word}, the nearest that the model takes`);
  }
  if (settings.summary !== undefined && settings.summary !== 'auto') {
    report.dropped(names.of('summary'), 'the upstream does not summarise');
  }
  return word;
}

const TAKES_NONE = 'the endpoint takes no reasoning settings';

// --- By budget ------------------------------------------------------------------------------------------------------

/** Thinking in the fields of the messages format: Claude models take the same ones here. */
function asThinking(context: RenderContext, turns: readonly Turn[]): RenderedReasoning {
  const { maxTokens, thinking, effort, isThinking } = renderClaudeThinking(
    context,
    takes('reasoning', context.target),
    () => isInterrupting(turns),
  );
  const isNeeded =
    context.request.requestedOutputTokens !== undefined || thinking?.budget_tokens !== undefined;
  return {
    ...(isNeeded && { maxTokens }),
    fields: thinking === undefined ? {} : { thinking },
    ...(effort !== undefined && { effort }),
    isThinking,
  };
}

/** True if the turns continue after tool calls whose thoughts are missing. */
function isInterrupting(turns: readonly Turn[]): boolean {
  return interruptsThoughts(
    turns,
    ({ pieces }) => pieces[0]?.block.reasoningContent !== undefined,
    ({ pieces }) => pieces.some(({ block }) => block.toolResult !== undefined),
  );
}

// --- Without reasoning settings -------------------------------------------------------------------------------------

function asNothing(context: RenderContext): RenderedReasoning {
  const { request, report } = context;
  if (isAsked(request.reasoning)) {
    const names = namesOf(context).asked(request.reasoning);
    for (const name of names) report.dropped(name, 'the model takes no reasoning settings');
  }
  return { ...limitMember(context), fields: {}, isThinking: false };
}

function isAsked(settings: ReasoningSettings | undefined): settings is ReasoningSettings {
  return settings !== undefined && settings.enabled !== false && settings.effort !== 'none';
}
