import { useState } from 'preact/hooks';
import type { Overview } from '../../api/contract.ts';
import { ChartTable, TimeChart, valuesIn } from '../../parts/chart/time-chart.tsx';
import { bucketName, nextBucket } from '../../parts/chart/time-scale.ts';
import { Icon } from '../../parts/icon.tsx';
import { shortName } from './breakdown.tsx';
import type { OverviewMetric } from './overview-metrics.ts';
import { rateSeries, stackedSeries, valuesBefore } from './overview-series.ts';

interface Props {
  readonly overview: Overview;
  readonly starts: readonly number[];
  readonly swatches: ReadonlyMap<string | null, string>;
  readonly metric: OverviewMetric;
  readonly isComparing: boolean;
  /** The lower chart, with fewer lines and labels. */
  readonly isLow?: boolean;
  readonly marked: number | null;
  readonly onMark: (bucket: number | null) => void;
  readonly onZoom: (fromMs: number, toMs: number) => void;
  /** `id` is undefined for all others, and beside the bars. */
  readonly onPick?: (
    bucketMs: number,
    endMs: number,
    id: string | null | undefined,
    isShift: boolean,
  ) => void;
}

/** The chart of a metric: stacked bars of groups for sums, lines for rates. */
export function MetricChart({
  overview,
  starts,
  swatches,
  metric,
  isComparing,
  isLow = false,
  ...on
}: Props) {
  const [isTable, setTable] = useState(false);
  const { granularity, by, groups, series } = overview;
  const endOf = (bucket: number): number => nextBucket(starts[bucket] ?? 0, granularity);
  const shown =
    metric.sum === null
      ? rateSeries(series, starts, metric.lines)
      : stackedSeries(overview, starts, metric.sum, swatches, (group) => shortName(by, group));
  const chart = {
    label: `${metric.title} per ${bucketName(granularity)}${metric.sum === null ? '' : `, by ${by}`}`,
    starts,
    granularity,
    series: shown,
    before:
      isComparing && !isLow
        ? { label: 'Period before', values: valuesBefore(overview, starts, metric.figure) }
        : undefined,
    format: metric.notation.column(valuesIn(shown)),
  };
  return (
    <>
      <div class="hd">
        <h2>{isLow ? metric.title : chart.label}</h2>
        <span class="legend push">
          {metric.sum === null &&
            metric.lines.length > 1 &&
            metric.lines.map(({ label, swatch }) => (
              <span class={swatch} key={label}>
                <span class="lk" />
                {label}
              </span>
            ))}
          {chart.before !== undefined && (
            <span>
              <span class="dash" />
              Period before
            </span>
          )}
        </span>
        <button
          class="b quiet ico"
          type="button"
          aria-label={`Show ${metric.title} as ${isTable ? 'chart' : 'table'}`}
          aria-pressed={isTable}
          onClick={() => setTable(!isTable)}
        >
          <Icon name={isTable ? 'analytics' : 'columns'} size={14} />
        </button>
      </div>
      {isTable ? (
        <ChartTable {...chart} />
      ) : (
        <TimeChart
          {...chart}
          kind={metric.sum === null ? 'lines' : 'bars'}
          axis={metric.axis}
          parts={isLow ? 3 : 5}
          marked={on.marked}
          onMark={on.onMark}
          onZoom={(first, last) => on.onZoom(starts[first] ?? 0, endOf(last))}
          onPick={(bucket, place, isShift) => {
            const group =
              place === null || metric.sum === null ? undefined : groups.slice(0, swatches.size)[place];
            on.onPick?.(starts[bucket] ?? 0, endOf(bucket), group?.id, isShift);
          }}
        />
      )}
    </>
  );
}
