import type { GenerationRequest, ReasoningSettings } from '../../ir/request.ts';
import { isJsonObject, type JsonObject } from '../../kit/json.ts';
import type { RenderTarget } from '../dialect.ts';
import { budgetOf, effortOf } from '../reasoning-effort.ts';
import type { Report } from '../report.ts';

/** What is asked of the upstream about thinking, and the output limit that leaves room for it. */
export interface RenderedThinking {
  readonly maxTokens: number;
  readonly thinking?: JsonObject;
  /** Effort in the caller's own word; only for callers of this format. */
  readonly effort?: string;
  readonly isThinking: boolean;
}

/** Output limit where neither the request nor the endpoint has one: the upstream demands a number. */
const DEFAULT_MAX_TOKENS = 4096;

/** Upstreams refuse a smaller thinking budget. */
const LEAST_BUDGET = 1024;

/** The output limit that a request goes out with. */
export function maxTokensOf(request: GenerationRequest, target: RenderTarget): number {
  return request.maxOutputTokens ?? target.maxOutputTokens ?? DEFAULT_MAX_TOKENS;
}

/** `messages`: the rendered turns, which may forbid thinking. */
export function renderThinking(
  request: GenerationRequest,
  target: RenderTarget,
  messages: readonly JsonObject[],
  report: Report,
): RenderedThinking {
  const maxTokens = maxTokensOf(request, target);
  const settings = request.reasoning;
  if (settings === undefined) return { maxTokens, isThinking: false };
  if (target.supportedParameters?.has('reasoning') === false) {
    report.dropped(report.name('reasoning'), 'the endpoint takes no reasoning settings');
    return { maxTokens, isThinking: false };
  }
  reportUnknown(settings, report);
  const native = request.format === 'messages' ? settings.effort : undefined;
  const effort = native === undefined ? {} : { effort: native };
  if (settings.adaptive === true) {
    return { maxTokens, thinking: { type: 'adaptive', ...display(settings) }, ...effort, isThinking: true };
  }
  const budget = budgetFor(request, settings, maxTokens);
  if (budget === undefined) {
    const isOff = settings.enabled === false || settings.effort === 'none';
    return { maxTokens, ...(isOff && { thinking: { type: 'disabled' } }), ...effort, isThinking: false };
  }
  if (interruptsThoughts(messages)) {
    report.coerced(report.name('reasoning'), THOUGHTS_MISSING);
    return { maxTokens, thinking: { type: 'disabled' }, ...effort, isThinking: false };
  }
  return {
    maxTokens: roomFor(budget, maxTokens, request, report),
    thinking: { type: 'enabled', budget_tokens: budget, ...display(settings) },
    ...effort,
    isThinking: true,
  };
}

/** Why thinking is switched off in the middle of a turn. */
export const THOUGHTS_MISSING =
  'switched off for this turn: it continues tool calls whose thoughts are not at hand, and the upstream demands them';

const THOUGHTS: ReadonlySet<unknown> = new Set(['thinking', 'redacted_thinking']);

/** True when the turn goes on after tool calls that were made without thoughts of this family. */
export function interruptsThoughts(messages: readonly JsonObject[]): boolean {
  const last = messages.findLastIndex(({ role }) => role === 'assistant');
  const isContinued = messages.slice(last + 1).some((message) => blocksIn(message).includes('tool_result'));
  return last !== -1 && isContinued && !THOUGHTS.has(blocksIn(messages[last])[0]);
}

function blocksIn(message: JsonObject | undefined): unknown[] {
  const content = Array.isArray(message?.content) ? message.content : [];
  return content.map((block) => (isJsonObject(block) ? block.type : undefined));
}

/** Callers of this format say themselves whether to think; for others an effort means thinking. */
function budgetFor(
  request: GenerationRequest,
  settings: ReasoningSettings,
  maxTokens: number,
): number | undefined {
  if (settings.enabled === false || settings.effort === 'none') return undefined;
  if (settings.budgetTokens !== undefined) return Math.max(settings.budgetTokens, LEAST_BUDGET);
  const effort = request.format === 'messages' ? undefined : effortOf(settings);
  return effort === undefined ? undefined : budgetOf(effort, maxTokens);
}

/** The limit covers thoughts and answer together, so it must be above the budget. */
function roomFor(budget: number, maxTokens: number, request: GenerationRequest, report: Report): number {
  if (maxTokens > budget) return maxTokens;
  const raised = budget + maxTokens;
  if (request.maxOutputTokens !== undefined) {
    report.coerced(
      report.name('maxOutputTokens'),
      `raised to ${raised} to leave room for ${budget} tokens of thinking`,
    );
  }
  return raised;
}

function display(settings: ReasoningSettings): JsonObject {
  if (settings.exclude === true) return { display: 'omitted' };
  return settings.display === undefined ? {} : { display: settings.display };
}

const UNKNOWN_SETTINGS = ['context', 'mode'] as const;

function reportUnknown(settings: ReasoningSettings, report: Report): void {
  for (const name of UNKNOWN_SETTINGS) {
    if (settings[name] !== undefined) {
      report.dropped(report.name('reasoning', `.${name}`), 'the upstream has no such setting');
    }
  }
  if (settings.summary !== undefined && settings.summary !== 'auto') {
    report.dropped(report.name('reasoning', '.summary'), 'the upstream decides how it summarises');
  }
}
