import Type, { type Static } from 'typebox';

export const DATASET_START = '2025-01-01';

const day = (description: string) =>
  Type.Optional(
    Type.String({
      pattern: '^\\d{4}-\\d{2}-\\d{2}$',
      explain: 'must be a day such as 2026-01-31',
      description,
    }),
  );

/** Query members of every dataset: its days. */
export const DATASET_WINDOW = {
  start_date: day(
    `First day, UTC. 30 days before \`end_date\` without it; days before ${DATASET_START} count as that one.`,
  ),
  end_date: day(
    `Last day, UTC, not before ${DATASET_START}. The most recent day that is over without it. At most 366 days in all.`,
  ),
};

export interface DatasetWindowQuery {
  readonly start_date?: string;
  readonly end_date?: string;
}

export const datasetMetaSchema = Type.Object({
  as_of: Type.String({ format: 'date-time', description: 'When it was made.' }),
  start_date: Type.String({ description: 'First day, as it was resolved.' }),
  end_date: Type.String({ description: 'Last day, as it was resolved.' }),
  version: Type.Literal('v1'),
  warnings: Type.Optional(
    Type.Array(Type.String(), { description: 'Why the answer is not what one may expect.' }),
  ),
});

export type DatasetMeta = Static<typeof datasetMetaSchema>;

/** The range of a dataset, from its first millisecond to the one after the last, and when it was made. */
export interface ShownDataset {
  readonly asOfMs: number;
  readonly window: { readonly startMs: number; readonly endMs: number };
  readonly warnings?: readonly string[];
}

export function datasetMeta({ asOfMs, window, warnings }: ShownDataset): DatasetMeta {
  return {
    as_of: new Date(asOfMs).toISOString(),
    start_date: dayText(window.startMs),
    end_date: dayText(window.endMs - 1),
    version: 'v1',
    ...(warnings !== undefined && { warnings: [...warnings] }),
  };
}

/** The UTC day of a time, `YYYY-MM-DD`. */
export function dayText(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}
