import { LabelledValues } from './labelled-values.ts';
import type { MetricFamily, MetricSample } from './metric-family.ts';
import { numberText } from './number-text.ts';

/** What histograms are told apart by, and the upper ends of their buckets in ascending order. */
export interface HistogramOptions<Label extends string> {
  readonly name: string;
  readonly help: string;
  readonly labels: readonly Label[];
  readonly bounds: readonly number[];
}

interface Distribution {
  /** One for each bucket, and one for what is above all of them. Each counts its own values only. */
  readonly counts: number[];
  sum: number;
}

/** How often values were of which size, one for each combination of labels. */
export class Histogram<Label extends string = never> implements MetricFamily {
  readonly name: string;
  readonly help: string;
  readonly type = 'histogram';
  readonly #bounds: readonly number[];
  readonly #distributions: LabelledValues<Label, Distribution>;

  constructor({ name, help, labels, bounds }: HistogramOptions<Label>) {
    this.name = name;
    this.help = help;
    this.#bounds = bounds;
    this.#distributions = new LabelledValues(labels, () => ({
      counts: new Array<number>(bounds.length + 1).fill(0),
      sum: 0,
    }));
  }

  observe(labels: Readonly<Record<Label, string>>, value: number): void {
    const distribution = this.#distributions.of(labels);
    let place = 0;
    while (place < this.#bounds.length && value > (this.#bounds[place] as number)) place++;
    distribution.counts[place] = (distribution.counts[place] ?? 0) + 1;
    distribution.sum += value;
  }

  *samples(): Iterable<MetricSample> {
    for (const [labels, { counts, sum }] of this.#distributions) {
      let total = 0;
      for (const [place, count] of counts.entries()) {
        total += count;
        const le = numberText(this.#bounds[place] ?? Number.POSITIVE_INFINITY);
        yield { suffix: '_bucket', labels: { ...labels, le }, value: String(total) };
      }
      yield { suffix: '_sum', labels, value: numberText(sum) };
      yield { suffix: '_count', labels, value: String(total) };
    }
  }
}
