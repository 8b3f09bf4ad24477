import { conversationForm, type ReasoningSetting } from '../../../ir/format-facts.ts';
import type { GenerationRequest } from '../../../ir/request.ts';
import type { ReasoningSettings } from '../../../ir/settings.ts';
import { objectAt, stringAt } from '../../../kit/json/members.ts';
import type { Report } from '../report/report.ts';

/** The short field for the effort, if the format has one and the caller used it. */
export function usedShortEffortField({
  formatFacts,
  body,
}: Pick<GenerationRequest, 'formatFacts' | 'body'>): string | undefined {
  const { shortEffortField: field } = conversationForm(formatFacts).reasoning;
  const isUsed =
    field !== undefined &&
    stringAt(body, field) !== undefined &&
    stringAt(objectAt(body, 'reasoning'), 'effort') === undefined;
  return isUsed ? field : undefined;
}

/** The caller's field for the effort. */
export function effortName(request: Pick<GenerationRequest, 'formatFacts' | 'body'>): string {
  return usedShortEffortField(request) ?? conversationForm(request.formatFacts).reasoning.places.effort;
}

export class ReasoningNames {
  constructor(
    private readonly request: GenerationRequest,
    private readonly report: Report,
  ) {}

  of(setting: ReasoningSetting): string {
    if (setting === 'effort') return effortName(this.request);
    const { places } = conversationForm(this.request.formatFacts).reasoning;
    return places[setting] ?? places.budgetTokens;
  }

  whole(): string {
    const short =
      objectAt(this.request.body, 'reasoning') === undefined ? usedShortEffortField(this.request) : undefined;
    return short ?? this.report.name('reasoning');
  }

  /** Every field that requests something: one, or two in formats with a separate effort. */
  asked(settings: ReasoningSettings): string[] {
    if (conversationForm(this.request.formatFacts).reasoning.hasSeparateEffort !== true)
      return [this.whole()];
    const asksToThink = settings.adaptive === true || settings.enabled === true;
    return [
      ...(asksToThink ? [this.whole()] : []),
      ...(settings.effort === undefined ? [] : [this.of('effort')]),
    ];
  }
}
