import { Counter } from '../kit/metrics/counter.ts';
import type { MetricFamily } from '../kit/metrics/metric-family.ts';

export const CLASSIFICATION_OUTCOMES = ['classified', 'failed', 'over_budget', 'without_content'] as const;

export type ClassificationOutcome = (typeof CLASSIFICATION_OUTCOMES)[number];

/** Counts what this gateway has classified, for `/metrics`. */
export class ClassificationCounts {
  readonly #counter = new Counter({
    name: 'signalbox_classifications_total',
    help:
      'Generations that classifiers looked at: tagged, failed at, left out because a budget is spent, or without ' +
      'content that may be read.',
    labels: ['outcome'],
  });
  readonly #sums = Object.fromEntries(
    CLASSIFICATION_OUTCOMES.map((outcome) => [outcome, this.#counter.of({ outcome })]),
  ) as Record<ClassificationOutcome, ReturnType<Counter<'outcome'>['of']>>;

  get families(): readonly MetricFamily[] {
    return [this.#counter];
  }

  add(outcome: ClassificationOutcome, count: number): void {
    if (count > 0) this.#sums[outcome].add(count);
  }
}
