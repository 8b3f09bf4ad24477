import { LabelledValues } from './labelled-values.ts';
import type { MetricFamily, MetricSample } from './metric-family.ts';
import { numberText } from './number-text.ts';

/** What counters are told apart by, and how their sum is written. */
export interface CounterOptions<Label extends string> {
  readonly name: string;
  readonly help: string;
  readonly labels: readonly Label[];
  /** The sum in the unit of the name; as it was added up unless it is said. */
  readonly text?: (sum: number) => string;
}

/** Sums that only ever grow, one for each combination of labels. */
export class Counter<Label extends string = never> implements MetricFamily {
  readonly name: string;
  readonly help: string;
  readonly type = 'counter';
  readonly #sums: LabelledValues<Label, { sum: number }>;
  readonly #text: (sum: number) => string;

  constructor({ name, help, labels, text = numberText }: CounterOptions<Label>) {
    this.name = name;
    this.help = help;
    this.#text = text;
    this.#sums = new LabelledValues(labels, () => ({ sum: 0 }));
  }

  add(labels: Readonly<Record<Label, string>>, amount = 1): void {
    this.#sums.of(labels).sum += amount;
  }

  *samples(): Iterable<MetricSample> {
    for (const [labels, { sum }] of this.#sums) yield { labels, value: this.#text(sum) };
  }
}
