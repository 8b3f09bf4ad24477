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

  of(member: 'effort' | 'max_tokens' | 'summary' | 'context' | 'mode'): string {
    if (member === 'effort' && this.#hasShortEffort()) return 'reasoning_effort';
    if (this.request.format !== 'messages') return this.report.name('reasoning', `.${member}`);
    return member === 'effort' ? 'output_config.effort' : 'thinking.budget_tokens';
  }

  /** The field that requests thinking. */
  whole(): string {
    const isShort = this.#hasShortEffort() && objectAt(this.request.body, 'reasoning') === undefined;
    return isShort ? 'reasoning_effort' : this.report.name('reasoning');
  }

  /** Every field that requests something; the messages format has two of them. */
  asked(settings: ReasoningSettings): string[] {
    if (this.request.format !== 'messages') return [this.whole()];
    const asksToThink = settings.adaptive === true || settings.enabled === true;
    return [
      ...(asksToThink ? [this.whole()] : []),
      ...(settings.effort === undefined ? [] : [this.of('effort')]),
    ];
  }

  /** True if the effort has a short field of its own. */
  #hasShortEffort(): boolean {
    const { formatFacts, body } = this.request;
    const { shortEffortField } = formatFacts.reasoning;
    return (
      shortEffortField !== undefined &&
      stringAt(body, shortEffortField) !== undefined &&
      stringAt(objectAt(body, 'reasoning'), 'effort') === undefined
    );
  }
}
