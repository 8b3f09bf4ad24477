import { conversationForm } from '../../../ir/format-facts.ts';
import type { GenerationRequest } from '../../../ir/request.ts';
import type { Effort, ReasoningSettings } from '../../../ir/settings.ts';
import type { JsonObject } from '../../../kit/json/json.ts';
import type { RenderTarget } from '../../dialect.ts';
import type { Report } from '../report/report.ts';
import { cappedLimit } from '../requests/output-limit.ts';
import { budgetOf, effortOf, MIN_BUDGET_TOKENS } from './reasoning-effort.ts';
import { ReasoningNames } from './reasoning-names.ts';

/** The request, the endpoint, and the report on what is lost on the way from one to the other. */
export interface ThinkingContext {
  readonly request: GenerationRequest;
  readonly target: RenderTarget;
  readonly report: Report;
}

/** Thinking settings for a Claude model, and the output limit that leaves room for them. */
export interface ClaudeThinking {
  readonly maxTokens: number;
  readonly thinking?: JsonObject;
  readonly effort?: string;
  /** True also without a request if the model always thinks. */
  readonly isThinking: boolean;
}

/** Output limit if neither the request nor the endpoint has one: the upstream requires a number. */
const DEFAULT_MAX_TOKENS = 4096;

export function sentLimit({ request, target, report }: ThinkingContext): number {
  return cappedLimit(request, target, report) ?? target.outputLimit ?? DEFAULT_MAX_TOKENS;
}

/**
 * The `thinking` member and the effort. `takesReasoning`: whether the endpoint takes reasoning settings. `interrupts`:
 * whether the rendered turns forbid thinking, see `interruptsThoughts`; called only if a budget is asked for.
 */
export function renderClaudeThinking(
  context: ThinkingContext,
  takesReasoning: boolean,
  interrupts: () => boolean,
): ClaudeThinking {
  const asked = renderAsked(context, takesReasoning, interrupts);
  return context.target.alwaysThinks === true ? { ...asked, isThinking: true } : asked;
}

function renderAsked(
  context: ThinkingContext,
  takesReasoning: boolean,
  interrupts: () => boolean,
): ClaudeThinking {
  const { request, target, report } = context;
  const maxTokens = sentLimit(context);
  const settings = request.reasoning;
  if (settings === undefined) return { maxTokens, isThinking: false };
  const names = new ReasoningNames(request, report);
  const isOff = settings.enabled === false || settings.effort === 'none';
  if (!takesReasoning) {
    if (!isOff) for (const name of names.asked(settings)) report.dropped(name, NO_REASONING);
    return { maxTokens, isThinking: false };
  }
  reportUnknown(settings, names, report);
  const { hasSeparateEffort = false } = conversationForm(request.formatFacts).reasoning;
  const native = hasSeparateEffort ? settings.effort : undefined;
  const effort = native === undefined ? {} : { effort: native };
  if (settings.adaptive === true) {
    return { maxTokens, thinking: { type: 'adaptive', ...display(settings) }, ...effort, isThinking: true };
  }
  if (isOff) {
    reportOverruled(settings, names, report);
    return { maxTokens, thinking: OFF, ...effort, isThinking: false };
  }
  const asked = hasSeparateEffort ? undefined : effortOf(settings);
  if (target.takesBudget === false && asked !== undefined) {
    return { maxTokens, ...adaptive(asked, settings, names, report), isThinking: true };
  }
  const wanted = wantedBudget(settings, asked, maxTokens);
  if (wanted === undefined) {
    if (settings.summary !== undefined) report.dropped(names.of('summary'), NOTHING_TO_SUMMARISE);
    return { maxTokens, ...effort, isThinking: false };
  }
  const room = roomFor(wanted, maxTokens, context);
  const budget = possibleBudget(wanted, room, request, interrupts);
  if (typeof budget !== 'number') {
    report.coerced(names.whole(), budget.obstacle);
    return { maxTokens, thinking: OFF, ...effort, isThinking: false };
  }
  reportBudget(settings, budget, names, report);
  if (settings.budgetTokens !== undefined && settings.effort !== undefined && native === undefined) {
    report.dropped(names.of('effort'), 'the budget in tokens decides');
  }
  reportSummary(settings, names, report);
  return {
    maxTokens: room,
    thinking: { type: 'enabled', budget_tokens: budget, ...display(settings) },
    ...effort,
    isThinking: true,
  };
}

/**
 * Newer models decide themselves when and how much they think, and take an effort instead of a budget. They show their
 * thoughts only on request.
 */
function adaptive(
  asked: Effort,
  settings: ReasoningSettings,
  names: ReasoningNames,
  report: Report,
): Pick<ClaudeThinking, 'thinking' | 'effort'> {
  const effort = asked === 'minimal' ? LEAST_EFFORT : asked;
  if (effort !== asked) {
    report.coerced(names.of('effort'), `became ${effort}, the least that the upstream has a word for`);
  }
  reportSummary(settings, names, report);
  return { thinking: { type: 'adaptive', display: 'summarized', ...display(settings) }, effort };
}

const LEAST_EFFORT: Effort = 'low';

export const OFF: JsonObject = { type: 'disabled' };

const NO_REASONING = 'the endpoint takes no reasoning settings';

const NOTHING_TO_SUMMARISE = 'the upstream is not asked to think, so there is nothing to summarise';

const THOUGHTS_MISSING =
  'switched off for this turn: it continues tool calls whose thoughts are not at hand, and the upstream demands them';

export function lowered(budget: number): string {
  return `lowered to ${budget}, below the output limit`;
}

/** True if the turn continues after tool calls that were made without thoughts of this family. */
export function interruptsThoughts<T extends { readonly role?: unknown }>(
  turns: readonly T[],
  beginsWithThoughts: (turn: T) => boolean,
  hasResults: (turn: T) => boolean,
): boolean {
  const last = turns.findLastIndex(({ role }) => role === 'assistant');
  const turn = turns[last];
  return turn !== undefined && turns.slice(last + 1).some(hasResults) && !beginsWithThoughts(turn);
}

/** The requested thinking budget; undefined = none. `asked`: the effort, if it requests thinking by itself. */
function wantedBudget(
  { budgetTokens }: ReasoningSettings,
  asked: Effort | undefined,
  maxTokens: number,
): number | undefined {
  if (budgetTokens !== undefined) return Math.max(budgetTokens, MIN_BUDGET_TOKENS);
  return asked === undefined ? undefined : budgetOf(asked, maxTokens);
}

/** The limit covers thoughts and answer together. It is raised to hold both only if the caller named none. */
export function roomFor(budget: number, limit: number, { request, target }: ThinkingContext): number {
  const isNamed = request.requestedOutputTokens !== undefined || target.outputLimit !== undefined;
  return isNamed || budget < limit ? limit : budget + limit;
}

/** The budget, or the highest that leaves room for an answer, or the reason why there can be no thinking. */
export function possibleBudget(
  wanted: number,
  limit: number,
  { mayThinkBeyondLimit }: Pick<GenerationRequest, 'mayThinkBeyondLimit'>,
  interrupts: () => boolean,
): number | { readonly obstacle: string } {
  if (interrupts()) return { obstacle: THOUGHTS_MISSING };
  if (mayThinkBeyondLimit === true) return wanted;
  const budget = wanted < limit ? wanted : budgetOf('max', limit);
  if (budget < limit) return budget;
  const least = `the upstream thinks with at least ${MIN_BUDGET_TOKENS} tokens`;
  return { obstacle: `switched off: ${least}, and the output limit is ${limit}` };
}

function display(settings: ReasoningSettings): JsonObject {
  if (settings.exclude === true) return { display: 'omitted' };
  return settings.display === undefined ? {} : { display: settings.display };
}

function reportBudget(
  { budgetTokens = 0 }: ReasoningSettings,
  budget: number,
  names: ReasoningNames,
  report: Report,
): void {
  if (budgetTokens === 0 || budget === budgetTokens) return;
  const isRaised = budget > budgetTokens;
  const detail = isRaised ? `raised to ${budget}, the least that the upstream takes` : lowered(budget);
  report.coerced(names.of('budgetTokens'), detail);
}

function reportSummary({ summary }: ReasoningSettings, names: ReasoningNames, report: Report): void {
  if (summary !== undefined && summary !== 'auto') {
    report.dropped(names.of('summary'), 'the upstream decides how it summarises');
  }
}

/** Reports settings that request thinking beside one that switches it off. */
function reportOverruled(
  { effort, budgetTokens }: ReasoningSettings,
  names: ReasoningNames,
  report: Report,
): void {
  const detail = 'reasoning is switched off';
  if (effort !== undefined && effort !== 'none') report.dropped(names.of('effort'), detail);
  if (budgetTokens !== undefined) report.dropped(names.of('budgetTokens'), detail);
}

/** Settings of other families, and their neutral values. */
const UNKNOWN_SETTINGS = [
  ['context', 'auto'],
  ['mode', 'standard'],
] as const;

function reportUnknown(settings: ReasoningSettings, names: ReasoningNames, report: Report): void {
  for (const [name, harmless] of UNKNOWN_SETTINGS) {
    if (settings[name] !== undefined && settings[name] !== harmless) {
      report.dropped(names.of(name), 'the upstream has no such setting');
    }
  }
}
