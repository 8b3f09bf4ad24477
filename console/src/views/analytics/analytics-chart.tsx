import { useState } from 'preact/hooks';
import { addressWith, go, useAddress } from '../../address/address.ts';
import type { AnalyticsMeta, AnalyticsRow, Granularity } from '../../api/contract.ts';
import { ChartTable, TimeChart, valuesIn } from '../../parts/chart/time-chart.tsx';
import { bucketName, nextBucket } from '../../parts/chart/time-scale.ts';
import { Icon } from '../../parts/icon.tsx';
import type { Moments } from '../../parts/range/range.ts';
import { formatsOf, seriesOf } from './analytics-answer.ts';
import type { Question } from './analytics-question.ts';
import { titleNamed, titleOf } from './analytics-titles.ts';

interface Props {
  readonly rows: readonly AnalyticsRow[];
  readonly question: Question;
  readonly meta: AnalyticsMeta;
  readonly metric: AnalyticsMeta['metrics'][number];
  readonly moments: Moments;
  /** A lower chart below another one, on the same time. */
  readonly isLow: boolean;
  readonly marked: number | null;
  readonly onMark: (bucket: number | null) => void;
}

/** One metric over time: bars if it adds up, else lines. Dragging zooms. */
export function AnalyticsChart({ rows, question, meta, metric, moments, isLow, marked, onMark }: Props) {
  const address = useAddress();
  const [isTable, setTable] = useState(false);
  const granularity = question.granularity as Granularity;
  const { starts, series } = seriesOf(rows, question, metric, moments);
  const { notation, axis } = formatsOf(metric);
  const title = titleOf(metric);
  const groups = question.dimensions.map((name) => titleNamed(name, meta.dimensions).toLowerCase());
  const by = groups.length === 0 ? '' : `, by ${groups.join(' and ')}`;
  const chart = {
    label: `${title} per ${bucketName(granularity)}${by}`,
    starts,
    granularity,
    series,
    format: notation.column(valuesIn(series)),
  };
  const zoom = (first: number, last: number): void => {
    const iso = (ms: number): string => new Date(ms).toISOString();
    const end = nextBucket(starts[last] ?? 0, granularity);
    go(addressWith(address, { from: iso(starts[first] ?? 0), to: iso(end) }));
  };
  return (
    <>
      <div class="hd">
        <h2>{chart.label}</h2>
        <span class="legend push">
          {!isLow &&
            series.map(({ label, swatch }) => (
              <span key={swatch}>
                <span class={`swatch ${swatch}`} />
                {label}
              </span>
            ))}
        </span>
        <button
          class="b quiet ico"
          type="button"
          aria-label={`Show ${title} as ${isTable ? 'chart' : 'table'}`}
          aria-pressed={isTable}
          onClick={() => setTable(!isTable)}
        >
          <Icon name={isTable ? 'analytics' : 'columns'} size={14} />
        </button>
      </div>
      <div class={isLow ? 'an-low' : undefined}>
        {isTable ? (
          <ChartTable {...chart} />
        ) : (
          <TimeChart
            {...chart}
            kind={metric.is_rate ? 'lines' : 'bars'}
            axis={axis}
            parts={isLow ? 3 : 5}
            marked={marked}
            onMark={onMark}
            onZoom={zoom}
          />
        )}
      </div>
    </>
  );
}
