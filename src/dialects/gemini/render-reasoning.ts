import { conversationForm } from '../../ir/format-facts.ts';
import type { GenerationRequest } from '../../ir/request.ts';
import type { Effort, ReasoningSettings } from '../../ir/settings.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { budgetOf, effortNearest, effortOf, thinkingLimit } from '../shared/reasoning/reasoning-effort.ts';
import { ReasoningNames } from '../shared/reasoning/reasoning-names.ts';
import type { Report } from '../shared/report/report.ts';
import type { ThinkingControl, ThinkingLevel } from './model-traits.ts';
import type { RenderContext } from './render-context.ts';
import { takes } from './render-losses.ts';

type Level = Extract<ThinkingControl, { by: 'level' }>;
type Budget = Extract<ThinkingControl, { by: 'budget' }>;

interface Asked {
  readonly settings: ReasoningSettings;
  readonly names: ReasoningNames;
  readonly report: Report;
  /** Output limit that shares are measured against, tokens. */
  readonly limit: number;
}

/** Output limit that shares are measured against if neither the request nor the catalogue has one, tokens. */
const GEMINI_OUTPUT_TOKENS = 65_536;

/** `thinkingConfig` of a wire body; undefined if there is nothing to set. */
export function renderReasoning({ request, target, traits, report }: RenderContext): JsonObject | undefined {
  const { reasoning: settings } = request;
  if (settings === undefined) return undefined;
  const names = new ReasoningNames(request, report);
  const isOff = settings.enabled === false || settings.effort === 'none';
  if (traits.thinking === undefined || !takes('reasoning', target)) {
    if (!isOff) for (const name of names.asked(settings)) report.dropped(name, 'the endpoint does not think');
    return undefined;
  }
  const limit = thinkingLimit(request, target, GEMINI_OUTPUT_TOKENS);
  const asked: Asked = { settings, names, report, limit };
  reportUnknown(asked);
  if (isOff) return renderOff(traits.thinking, asked);
  const amount =
    traits.thinking.by === 'level'
      ? renderLevel(traits.thinking, asked)
      : renderBudget(traits.thinking, asked);
  const config = { ...(showsThoughts(request, settings) && { includeThoughts: true }), ...amount };
  return Object.keys(config).length > 0 ? config : undefined;
}

/** Some formats show thoughts only if thinking was requested; others unless they are hidden. */
function showsThoughts({ formatFacts }: GenerationRequest, settings: ReasoningSettings): boolean {
  if (settings.exclude === true || settings.display === 'omitted') return false;
  const mustBeAsked = conversationForm(formatFacts).reasoning.showsThoughtsIfAsked === true;
  return !mustBeAsked || settings.enabled === true || settings.adaptive === true;
}

// --- By effort ------------------------------------------------------------------------------------------------------

/** Efforts from the lowest to the highest, and their levels in this dialect. */
const EFFORTS: readonly (readonly [Effort, ThinkingLevel])[] = [
  ['none', 'minimal'],
  ['minimal', 'minimal'],
  ['low', 'low'],
  ['medium', 'medium'],
  ['high', 'high'],
  ['xhigh', 'high'],
  ['max', 'high'],
];

const LEVELS: readonly ThinkingLevel[] = ['minimal', 'low', 'medium', 'high'];

/** The model's level for an effort: the same, else the next higher one, else its highest. */
function levelFor(effort: Effort, { levels }: Level): ThinkingLevel {
  const wanted = EFFORTS.find(([word]) => word === effort)?.[1] ?? 'high';
  const enough = LEVELS.slice(LEVELS.indexOf(wanted)).find((level) => levels.includes(level));
  return enough ?? levels.at(-1) ?? 'high';
}

function renderLevel(control: Level, { settings, names, report, limit }: Asked): JsonObject {
  const { budgetTokens } = settings;
  const effort = effortOf(settings);
  if (effort !== undefined) {
    const level = levelFor(effort, control);
    if (settings.effort !== undefined && settings.effort !== level) {
      report.coerced(names.of('effort'), `the upstream has no such level: ${level} is sent`);
    }
    if (budgetTokens !== undefined) {
      report.dropped(names.of('budgetTokens'), `the upstream takes no budget; level ${level} is sent`);
    }
    return { thinkingLevel: level };
  }
  if (budgetTokens === undefined) return {};
  const level = levelFor(effortNearest(budgetTokens, limit), control);
  report.coerced(names.of('budgetTokens'), `a budget of ${budgetTokens} tokens is sent as level ${level}`);
  return { thinkingLevel: level };
}

// --- By budget ------------------------------------------------------------------------------------------------------

/** Budget that lets the model decide. */
const DYNAMIC = -1;

function renderBudget(control: Budget, asked: Asked): JsonObject {
  const { settings, names, report, limit } = asked;
  const { budgetTokens, adaptive } = settings;
  if (budgetTokens !== undefined) {
    if (settings.effort !== undefined) report.dropped(names.of('effort'), 'the budget in tokens decides');
    const budget = within(budgetTokens, control);
    if (budget !== budgetTokens) {
      const change = budget > budgetTokens ? 'raised' : 'lowered';
      report.coerced(names.of('budgetTokens'), `${change} to ${budget}, as the model takes it`);
    }
    return { thinkingBudget: budget };
  }
  const effort = effortOf(settings);
  if (effort === undefined) return adaptive === true ? { thinkingBudget: DYNAMIC } : {};
  const share = budgetOf(effort, limit);
  // The limit covers thoughts and answer together.
  return { thinkingBudget: within(share < limit ? share : Math.floor(limit / 2), control) };
}

function within(budget: number, { least, most }: Budget): number {
  return Math.min(Math.max(budget, least), most);
}

// --- Switched off ---------------------------------------------------------------------------------------------------

function renderOff(control: ThinkingControl, { settings, names, report }: Asked): JsonObject {
  const { effort, budgetTokens } = settings;
  const overruled = 'reasoning is switched off';
  if (effort !== undefined && effort !== 'none') report.dropped(names.of('effort'), overruled);
  if (budgetTokens !== undefined) report.dropped(names.of('budgetTokens'), overruled);
  if (control.by === 'budget') {
    if (control.canStop) return { thinkingBudget: 0 };
    report.coerced(names.whole(), `the model always thinks: sent with its least budget, ${control.least}`);
    return { thinkingBudget: control.least };
  }
  const level = levelFor('none', control);
  report.coerced(names.whole(), `the model always thinks: sent with its least level, ${level}`);
  return { thinkingLevel: level };
}

// --- Settings without a field ---------------------------------------------------------------------------------------

/** Settings of other families, and their neutral values. */
const UNKNOWN_SETTINGS = [
  ['context', 'auto'],
  ['mode', 'standard'],
  ['summary', 'auto'],
] as const;

function reportUnknown({ settings, names, report }: Asked): void {
  for (const [name, harmless] of UNKNOWN_SETTINGS) {
    if (settings[name] !== undefined && settings[name] !== harmless) {
      report.dropped(names.of(name), 'the upstream has no such setting');
    }
  }
}
