import { LabelledValues } from './labelled-values.ts';
import { type MetricFamily, type MetricSample, numberText } from './metric-family.ts';

/** Name and labels of a histogram, and the upper bounds of its buckets in ascending order. */
export interface HistogramOptions<Label extends string> {
  readonly name: string;
  readonly help: string;
  readonly labels: readonly Label[];
  readonly bounds: readonly number[];
}

export class Distribution {
  readonly #bounds: readonly number[];
  readonly #counts: number[];
  #sum = 0;

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.#counts = new Array<number>(bounds.length + 1).fill(0);
  }

  /** One for each bucket and one for values above all bounds; not cumulative. */
  get counts(): readonly number[] {
    return this.#counts;
  }

  get sum(): number {
    return this.#sum;
  }

  observe(value: number): void {
    const bounds = this.#bounds;
    let place = 0;
    while (place < bounds.length && value > (bounds[place] as number)) place++;
    this.#counts[place] = (this.#counts[place] ?? 0) + 1;
    this.#sum += value;
  }
}

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
    this.#distributions = new LabelledValues(labels, () => new Distribution(bounds));
  }

  /**
   * The distribution of a label combination, for callers that observe often. From now on it is exposed, even if empty.
   */
  of(labels: Readonly<Record<Label, string>>): Distribution {
    return this.#distributions.of(labels);
  }

  observe(labels: Readonly<Record<Label, string>>, value: number): void {
    this.#distributions.of(labels).observe(value);
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
