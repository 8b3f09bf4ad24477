import { type MetricFamily, type MetricSample, numberText } from './metric-family.ts';

/** The figures of one name at a moment, as plain data. */
export interface MetricSnapshot extends Pick<MetricFamily, 'name' | 'help' | 'type'> {
  readonly samples: readonly MetricSample[];
}

export function snapshotOf(family: MetricFamily): MetricSnapshot {
  const { name, help, type } = family;
  return { name, help, type, samples: [...family.samples()] };
}

/** How the figures of several processes become one: their sum, the highest, or the lowest. */
export type MergeRule = 'sum' | 'highest' | 'lowest';

const MERGE: Readonly<Record<MergeRule, (one: number, other: number) => number>> = {
  sum: (one, other) => one + other,
  highest: Math.max,
  lowest: Math.min,
};

/**
 * The figures of several processes as those of one. Figures with the same name and labels are added up, unless `rules`
 * says otherwise for the name; names and labels that only one has are kept.
 */
export function mergeSnapshots(
  snapshots: Iterable<MetricSnapshot>,
  rules: Readonly<Record<string, MergeRule>> = {},
): MetricFamily[] {
  const merged = new Map<
    string,
    { readonly first: MetricSnapshot; readonly samples: Map<string, MetricSample> }
  >();
  for (const snapshot of snapshots) {
    const { name } = snapshot;
    const known = merged.get(name) ?? { first: snapshot, samples: new Map<string, MetricSample>() };
    merged.set(name, known);
    const combine = MERGE[rules[name] ?? 'sum'];
    for (const sample of snapshot.samples) {
      const key = JSON.stringify([sample.suffix ?? '', sample.labels]);
      const other = known.samples.get(key);
      const value =
        other === undefined
          ? sample.value
          : numberText(combine(numberOf(other.value), numberOf(sample.value)));
      known.samples.set(key, { ...sample, value });
    }
  }
  return [...merged.values()].map(({ first: { name, help, type }, samples }) => ({
    name,
    help,
    type,
    samples: () => samples.values(),
  }));
}

export function numberOf(text: string): number {
  return text.endsWith('Inf') ? Number(text.replace('Inf', 'Infinity')) : Number(text);
}
