import { conversationForm, type ReasoningSetting } from '../../../ir/format-facts.ts';
import type { GenerationRequest } from '../../../ir/request.ts';
import type { ReasoningSettings } from '../../../ir/settings.ts';
import { objectAt, stringAt } from '../../../kit/json/members.ts';
import type { Report } from '../report/report.ts';

/** The caller's names of the reasoning settings, for reports. */
export class ReasoningNames {
  constructor(
    private readonly request: GenerationRequest,
    private readonly report: Report,
  ) {}

  of(setting: ReasoningSetting): string {
    const { places, shortEffortField } = conversationForm(this.request.formatFacts).reasoning;
    if (setting === 'effort' && this.#hasShortEffort()) return shortEffortField ?? places.effort;
    return places[setting] ?? places.budgetTokens;
  }

  /** The field that requests thinking. */
  whole(): string {
    const isShort = this.#hasShortEffort() && objectAt(this.request.body, 'reasoning') === undefined;
    return isShort ? this.of('effort') : this.report.name('reasoning');
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

  /** True if the effort has a short field of its own. */
  #hasShortEffort(): boolean {
    const { formatFacts, body } = this.request;
    const { shortEffortField } = conversationForm(formatFacts).reasoning;
    return (
      shortEffortField !== undefined &&
      stringAt(body, shortEffortField) !== undefined &&
      stringAt(objectAt(body, 'reasoning'), 'effort') === undefined
    );
  }
}
