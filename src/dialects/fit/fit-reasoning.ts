import type { ReasoningFacts } from '../../catalog/catalog.ts';
import type { EffortWord } from '../../catalog/entries.ts';
import { EFFORT_WORDS } from '../../config/schema/catalog-members.ts';
import { conversationForm, type DecidingSetting } from '../../ir/format-facts.ts';
import { NO_ENTRIES, type TranslationEntry } from '../../ir/metadata.ts';
import type { GenerationRequest } from '../../ir/request.ts';
import type { ReasoningSettings } from '../../ir/settings.ts';
import { effortNearest, effortOf, thinkingLimit } from '../shared/reasoning/reasoning-effort.ts';
import { usedShortEffortField } from '../shared/reasoning/reasoning-names.ts';

/** A request fitted to a model, and the changes that were necessary. */
export interface FittedRequest {
  readonly request: GenerationRequest;
  readonly report: readonly TranslationEntry[];
}

/** Lowest effort of a model with unknown efforts: every upstream with effort levels has it. */
const USUAL_LEAST: EffortWord = 'low';

/**
 * Maps the requested effort to the nearest one that the model has, and a budget in tokens to an effort if the model
 * takes none. If the model always thinks, a request without thinking gets its lowest effort; `refuseReasoningOff` of
 * routing has decided before whether that is allowed.
 */
export function fitReasoning(
  request: GenerationRequest,
  facts: ReasoningFacts | undefined,
  outputLimit?: number,
): FittedRequest {
  if (facts === undefined || request.reasoning === undefined) return { request, report: NO_ENTRIES };
  const isOverBudget = facts.takesBudget === false && request.reasoning.budgetTokens !== undefined;
  if (!isOverBudget) return fitEffort(request, facts);
  if (effortOf(request.reasoning) === undefined) return fitBudget(request, facts, outputLimit);
  const fitted = fitEffort(withoutBudget(request), facts);
  const dropped: TranslationEntry = {
    field: conversationForm(request.formatFacts).reasoning.places.budgetTokens,
    action: 'dropped',
    detail: 'the model takes no budget in tokens: the effort decides',
  };
  return { ...fitted, report: [dropped, ...fitted.report] };
}

function fitEffort(request: GenerationRequest, facts: ReasoningFacts): FittedRequest {
  const asIs: FittedRequest = { request, report: NO_ENTRIES };
  const asked = effortOf(request.reasoning);
  if (asked === undefined) return asIs;
  if (asked === 'none') return facts.mandatory ? raised(request, leastEffort(facts)) : asIs;
  const sent = nearestEffort(asked, facts.supportedEfforts ?? EFFORT_WORDS);
  return sent === asked ? asIs : changed(request, sent, `the model has no effort ${asked}: ${sent} is sent`);
}

function fitBudget(
  request: GenerationRequest,
  facts: ReasoningFacts,
  outputLimit: number | undefined,
): FittedRequest {
  const limit = thinkingLimit(request, { outputLimit });
  const word = wordFor(request.reasoning?.budgetTokens ?? 0, limit);
  const sent = nearestEffort(word, facts.supportedEfforts ?? EFFORT_WORDS);
  return changed(request, sent, `the model takes no budget in tokens: effort ${sent} is sent`);
}

export function isSwitchedOff({ reasoning }: Pick<GenerationRequest, 'reasoning'>): boolean {
  return effortOf(reasoning) === 'none';
}

/** The lowest effort of a model that always thinks. */
export function leastEffort({ supportedEfforts }: ReasoningFacts): EffortWord {
  return supportedEfforts?.[0] ?? USUAL_LEAST;
}

/** The nearest effort; of two as near, the higher one. */
export function nearestEffort(asked: EffortWord, supported: readonly EffortWord[]): EffortWord {
  const place = EFFORT_WORDS.indexOf(asked);
  const distance = (word: EffortWord) => Math.abs(EFFORT_WORDS.indexOf(word) - place);
  const [nearest = asked] = [...supported].reverse().sort((one, other) => distance(one) - distance(other));
  return nearest;
}

function wordFor(budgetTokens: number, limit: number): EffortWord {
  const word = effortNearest(budgetTokens, limit);
  return word === 'none' ? USUAL_LEAST : word;
}

function changed(request: GenerationRequest, effort: EffortWord, detail: string): FittedRequest {
  return { request: withEffort(request, effort), report: [coerced(request, detail)] };
}

/** The request with an effort for a model that always thinks. The caller wanted no thoughts, so none are shown. */
function raised(request: GenerationRequest, effort: EffortWord): FittedRequest {
  const fitted = withEffort(request, effort);
  return {
    request: { ...fitted, reasoning: { ...fitted.reasoning, exclude: true } },
    report: [coerced(request, `the model always thinks: effort ${effort} is sent`)],
  };
}

function coerced(request: GenerationRequest, detail: string): TranslationEntry {
  return { field: effortPath(request), action: 'coerced', detail };
}

// --- Where formats write it -----------------------------------------------------------------------------------------

export function effortPath(request: Pick<GenerationRequest, 'formatFacts' | 'body' | 'reasoning'>): string {
  const { places } = conversationForm(request.formatFacts).reasoning;
  return usedShortEffortField(request) ?? places[decidingSetting(request.reasoning ?? {})];
}

function decidingSetting({ effort, budgetTokens, enabled }: ReasoningSettings): DecidingSetting {
  if (effort !== undefined) return 'effort';
  return budgetTokens === undefined || enabled === false ? 'enabled' : 'budgetTokens';
}

/** The request with an effort instead of a setting, in the representation and in the body for the relay lane. */
function withEffort(request: GenerationRequest, effort: EffortWord): GenerationRequest {
  const replaced = decidingSetting(request.reasoning ?? {});
  const short = usedShortEffortField(request);
  const body =
    short === undefined
      ? conversationForm(request.formatFacts).reasoning.withEffort(request.body, replaced, effort)
      : { ...request.body, [short]: effort };
  return { ...request, reasoning: { ...settingsWithout(replaced, request), effort }, body };
}

/** The request without a budget beside an effort, or beside thinking that is switched off. */
function withoutBudget(request: GenerationRequest): GenerationRequest {
  return {
    ...request,
    reasoning: settingsWithout('budgetTokens', request),
    body: conversationForm(request.formatFacts).reasoning.withoutBudget(request.body),
  };
}

function settingsWithout(
  setting: DecidingSetting,
  { reasoning = {}, formatFacts }: GenerationRequest,
): ReasoningSettings {
  if (
    conversationForm(formatFacts).reasoning.isAdaptiveWithoutBudget !== true ||
    setting !== 'budgetTokens'
  ) {
    const { [setting]: _, ...kept } = reasoning;
    return kept;
  }
  const { budgetTokens: _budget, enabled: _enabled, ...kept } = reasoning;
  return { ...kept, adaptive: true };
}
