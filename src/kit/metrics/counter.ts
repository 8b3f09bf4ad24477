import { LabelledValues } from './labelled-values.ts';
import { type MetricFamily, type MetricSample, numberText } from './metric-family.ts';

export interface CounterOptions<Label extends string> {
  readonly name: string;
  readonly help: string;
  readonly labels: readonly Label[];
  /** Writes the sum in the unit of the name; by default as it was added up. */
  readonly text?: (sum: number) => string;
}

export class Sum {
  #sum = 0;

  get value(): number {
    return this.#sum;
  }

  add(amount = 1): void {
    this.#sum += amount;
  }
}

/** Sums that only ever grow, one for each combination of labels. */
export class Counter<Label extends string = never> implements MetricFamily {
  readonly name: string;
  readonly help: string;
  readonly type = 'counter';
  readonly #sums: LabelledValues<Label, Sum>;
  readonly #text: (sum: number) => string;

  constructor({ name, help, labels, text = numberText }: CounterOptions<Label>) {
    this.name = name;
    this.help = help;
    this.#text = text;
    this.#sums = new LabelledValues(labels, () => new Sum());
  }

  /** The sum of a label combination, for callers that add often. From now on it is exposed, even if zero. */
  of(labels: Readonly<Record<Label, string>>): Sum {
    return this.#sums.of(labels);
  }

  add(labels: Readonly<Record<Label, string>>, amount = 1): void {
    this.#sums.of(labels).add(amount);
  }

  *samples(): Iterable<MetricSample> {
    for (const [labels, { value }] of this.#sums) yield { labels, value: this.#text(value) };
  }
}
