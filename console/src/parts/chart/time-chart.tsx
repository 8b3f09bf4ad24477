import { useRef, useState } from 'preact/hooks';
import type { Granularity } from '../../api/contract.ts';
import { ScrolledTable } from '../scrolled-table.tsx';
import type { Axis } from './axis.ts';
import { ticksUpTo } from './ticks.ts';
import { TimeLabels } from './time-labels.tsx';
import { bucketText, labelsOf, labelsWithin } from './time-scale.ts';
import { useWidth } from './use-width.ts';

/** Classes of the colours of series, in the order in which they are given out; the last one is for all others. */
export const SWATCHES = ['k1', 'k2', 'k3', 'k4', 'k5', 'k6'] as const;
export const OTHER_SWATCH = 'k8';

export interface ChartSeries {
  readonly label: string;
  /** Class of its colour. */
  readonly swatch: string;
  /** One for each bucket; null = no data. */
  readonly values: readonly (number | null)[];
}

/** All values of some series, by which they get one number of decimals. */
export function valuesIn(series: readonly ChartSeries[]): number[] {
  return series.flatMap(({ values }) => values.flatMap((value) => value ?? []));
}

interface Props {
  /** For screen readers, and the heading of the table. */
  readonly label: string;
  /** Bars are stacked, for sums. Lines are for rates, which do not add up. */
  readonly kind: 'bars' | 'lines';
  readonly starts: readonly number[];
  readonly granularity: Granularity;
  readonly series: readonly ChartSeries[];
  /** The period before, drawn as dashed steps. */
  readonly before?: Pick<ChartSeries, 'label' | 'values'> | undefined;
  readonly format: (value: number) => string;
  /** Where the grid lines are, and the texts at them. */
  readonly axis: Axis;
  /** At most so many parts between grid lines. */
  readonly parts?: 3 | 5;
  /** The bucket that is marked, in all charts of the view. */
  readonly marked: number | null;
  readonly onMark: (bucket: number | null) => void;
  /** A click; `series` is null beside all bars. */
  readonly onPick?: (bucket: number, series: number | null, isShift: boolean) => void;
  /** Dragging over some buckets, the last included. */
  readonly onZoom?: (first: number, last: number) => void;
}

const WIDTH = 960;
const HEIGHT = 240;

/** A chart over time: bars or lines, never smoothed. */
export function TimeChart(props: Props) {
  const { label, kind, starts, series, before, format, axis, parts = 5 } = props;
  const { marked, onMark, onPick, onZoom, granularity } = props;
  const plot = useRef<HTMLDivElement>(null);
  const width = useWidth(plot);
  const [dragFrom, setDragFrom] = useState<number | null>(null);
  // Every chart of the view marks the bucket; the one below the pointer says more.
  const [isOver, setOver] = useState(false);
  const step = WIDTH / Math.max(1, starts.length);
  const totals = starts.map((_, bucket) =>
    series.reduce((sum, { values }) => sum + (values[bucket] ?? 0), 0),
  );
  const peaks = kind === 'bars' ? totals : series.flatMap(({ values }) => values.map((value) => value ?? 0));
  const peak = Math.max(0, ...peaks, ...(before?.values.map((value) => value ?? 0) ?? []));
  const ticks = ticksUpTo(peak, parts, axis.round);
  const max = ticks.at(-1) ?? 1;
  const y = (value: number): number => HEIGHT - (value / max) * HEIGHT;
  const bucketAt = (event: PointerEvent): number => {
    const { left, width } = plot.current?.getBoundingClientRect() ?? { left: 0, width: 1 };
    const place = Math.floor(((event.clientX - left) / width) * starts.length);
    return Math.max(0, Math.min(starts.length - 1, place));
  };
  /** The series at the pointer: its bar, and nothing beside the bars. */
  const seriesAt = (bucket: number, event: PointerEvent): number | null => {
    const { top, height } = plot.current?.getBoundingClientRect() ?? { top: 0, height: 1 };
    const value = (1 - (event.clientY - top) / height) * max;
    let sum = 0;
    const found = series.findIndex(({ values }) => {
      sum += values[bucket] ?? 0;
      return value <= sum;
    });
    return kind === 'lines' || found === -1 ? null : found;
  };
  const release = (event: PointerEvent): void => {
    const bucket = bucketAt(event);
    const from = dragFrom;
    setDragFrom(null);
    if (from === null) return;
    if (from !== bucket) onZoom?.(Math.min(from, bucket), Math.max(from, bucket));
    else onPick?.(bucket, seriesAt(bucket, event), event.shiftKey);
  };
  const first = dragFrom === null ? marked : Math.min(dragFrom, marked ?? dragFrom);
  const last = dragFrom === null ? marked : Math.max(dragFrom, marked ?? dragFrom);
  return (
    <div class="chart">
      <div class="y" aria-hidden="true">
        {axis
          .texts(ticks)
          .map((text) => <span key={text}>{text}</span>)
          .reverse()}
      </div>
      <div
        ref={plot}
        class="plot"
        onPointerDown={(event) => event.button === 0 && setDragFrom(bucketAt(event))}
        onPointerMove={(event) => {
          setOver(true);
          onMark(bucketAt(event));
        }}
        onPointerUp={release}
        onPointerLeave={() => {
          setDragFrom(null);
          setOver(false);
          onMark(null);
        }}
      >
        <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={label}>
          {ticks.map((tick) => (
            <line
              key={tick}
              class={tick === 0 ? 'g zero' : 'g'}
              x1={0}
              x2={WIDTH}
              y1={y(tick)}
              y2={y(tick)}
            />
          ))}
          {first !== null && last !== null && (
            <rect class="colhi" x={first * step} y={0} width={(last - first + 1) * step} height={HEIGHT} />
          )}
          {kind === 'bars' ? (
            <Bars series={series} count={starts.length} step={step} y={y} />
          ) : (
            series.map(({ swatch, values }) => (
              <path key={swatch} class={`ln ${swatch}`} d={lineOf(values, step, y)} />
            ))
          )}
          {before !== undefined && <path class="ln was" d={stepsOf(before.values, step, y)} />}
        </svg>
        {isOver && marked !== null && marked < starts.length && dragFrom === null && (
          <Tip
            place={(marked + 0.5) / starts.length}
            title={bucketText(starts[marked] ?? 0, granularity)}
            total={kind === 'bars' ? format(totals[marked] ?? 0) : null}
            series={series}
            before={before}
            bucket={marked}
            format={format}
          />
        )}
      </div>
      <TimeLabels labels={labelsOf(starts, granularity, labelsWithin(width))} />
    </div>
  );
}

interface BarsProps {
  readonly series: readonly ChartSeries[];
  readonly count: number;
  readonly step: number;
  readonly y: (value: number) => number;
}

/** Height of the gap between two bands. */
const GAP = 0.8;

function Bars({ series, count, step, y }: BarsProps) {
  const sums = new Array<number>(count).fill(0);
  return series.map(({ swatch, values }) => {
    // One path for each series: thousands of elements would be slow.
    const path = values.map((value, bucket) => {
      if (value === null || value <= 0) return '';
      const bottom = y(sums[bucket] ?? 0);
      sums[bucket] = (sums[bucket] ?? 0) + value;
      const height = Math.max(0.6, bottom - y(sums[bucket] ?? 0) - GAP);
      const [x, width] = [bucket * step + step / 8, (step * 3) / 4];
      return `M${round(x)} ${round(bottom)}h${round(width)}v${round(-height)}h${round(-width)}z`;
    });
    return <path key={swatch} class={`f ${swatch}`} d={path.join('')} />;
  });
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}

/** A line through the middles of buckets; it breaks where there are no data. */
export function lineOf(
  values: readonly (number | null)[],
  step: number,
  y: (value: number) => number,
): string {
  let isDrawing = false;
  return values
    .map((value, bucket) => {
      const command = isDrawing ? 'L' : 'M';
      isDrawing = value !== null;
      // A point alone would not be seen: it becomes a short line.
      const isAlone = value !== null && command === 'M' && (values[bucket + 1] ?? null) === null;
      const point = `${round((bucket + 0.5) * step)} ${round(y(value ?? 0))}`;
      return value === null ? '' : `${command}${point}${isAlone ? 'h2' : ''}`;
    })
    .join('');
}

function stepsOf(values: readonly (number | null)[], step: number, y: (value: number) => number): string {
  return values
    .map((value, bucket) => {
      const height = round(y(value ?? 0));
      return `${bucket === 0 ? 'M' : 'L'}${round(bucket * step)} ${height}H${round((bucket + 1) * step)}`;
    })
    .join('');
}

interface TipProps {
  /** Share of the width. */
  readonly place: number;
  readonly title: string;
  readonly total: string | null;
  readonly series: readonly ChartSeries[];
  readonly before: Pick<ChartSeries, 'label' | 'values'> | undefined;
  readonly bucket: number;
  readonly format: (value: number) => string;
}

function Tip({ place, title, total, series, before, bucket, format }: TipProps) {
  const setPlace = (tip: HTMLElement | null): void => {
    const isLeft = place > 0.5;
    tip?.style.setProperty('left', isLeft ? 'auto' : `${place * 100 + 2}%`);
    tip?.style.setProperty('right', isLeft ? `${(1 - place) * 100 + 2}%` : 'auto');
  };
  const shown = (value: number | null | undefined): string =>
    typeof value === 'number' ? format(value) : '–';
  return (
    <div class="tip" ref={setPlace}>
      <div class="h">
        <span>{title}</span>
        {total !== null && <b>{total}</b>}
      </div>
      {series
        .filter(({ values }) => (values[bucket] ?? 0) !== 0 || total === null)
        .map(({ label, swatch, values }) => (
          <div class="row" key={swatch}>
            <span class={`swatch ${swatch}`} />
            <span class="cut">{label}</span>
            <span>{shown(values[bucket])}</span>
          </div>
        ))}
      {before !== undefined && (
        <div class="row t3">
          <span class="dash" />
          <span>{before.label}</span>
          <span>{shown(before.values[bucket] ?? 0)}</span>
        </div>
      )}
    </div>
  );
}

type TableProps = Pick<Props, 'label' | 'starts' | 'granularity' | 'series' | 'before' | 'format'>;

/** The same as a table. */
export function ChartTable({ label, starts, granularity, series, before, format }: TableProps) {
  const columns = before === undefined ? series : [...series, before];
  return (
    <ScrolledTable class="chart-table" label={label}>
      <table>
        <caption class="vh">{label}</caption>
        <thead>
          <tr>
            <th>Time</th>
            {columns.map(({ label: name }, place) => (
              <th class="num" key={place}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {starts.map((startMs, bucket) => (
            <tr key={startMs}>
              <td class="nw">{bucketText(startMs, granularity)}</td>
              {columns.map(({ values }, place) => {
                const value = values[bucket] ?? null;
                return (
                  <td class="num" key={place}>
                    {value === null ? '–' : format(value)}
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </ScrolledTable>
  );
}
