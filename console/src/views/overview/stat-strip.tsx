import type { Overview } from '../../api/contract.ts';
import { lineOf } from '../../parts/chart/time-chart.tsx';
import type { ExactAttributes } from '../../parts/exact.ts';
import { changeClass, exactValue, OVERVIEW_METRICS, type OverviewMetric } from './overview-metrics.ts';
import { valuesBefore, valuesOf } from './overview-series.ts';

interface Props {
  readonly overview: Overview;
  readonly starts: readonly number[];
  readonly metric: OverviewMetric;
  readonly onChoose: (metric: OverviewMetric) => void;
}

/** The tiles: each shows a figure, its change and its course, and chooses the metric of the chart. */
export function StatStrip({ overview, starts, metric, onChoose }: Props) {
  return (
    <fieldset class="strip" aria-label="Metric shown below">
      {OVERVIEW_METRICS.map((each) => (
        <button
          key={each.name}
          class="stat"
          type="button"
          aria-pressed={each === metric}
          title={exactOf(overview, each)?.title}
          onClick={() => onChoose(each)}
        >
          <span class="l">
            {each.title} {each.detail !== undefined && <span class="dim">{each.detail}</span>}
          </span>
          <Figure text={each.shown(overview.now)} exact={exactOf(overview, each)?.['data-exact']} />
          <Change overview={overview} metric={each} />
          <Sparkline overview={overview} starts={starts} metric={each} />
        </button>
      ))}
    </fieldset>
  );
}

/** All digits of a figure; undefined = there is none. */
function exactOf({ now }: Overview, metric: OverviewMetric): ExactAttributes | undefined {
  const value = now[metric.figure];
  return value === null ? undefined : exactValue(metric, value);
}

/** The number, and its unit smaller. */
function Figure({ text, exact }: { readonly text: string | null; readonly exact: string | undefined }) {
  const [, number = '–', unit = ''] = /^(\S+)(?:\s(\S+))?$/.exec(text ?? '') ?? [];
  const isOneUnit = unit !== '';
  return (
    <span class="v" data-exact={exact}>
      {isOneUnit || text === null ? number : text}
      {isOneUnit && <small> {unit}</small>}
    </span>
  );
}

function Change({ overview: { now, before }, metric }: Pick<Props, 'overview' | 'metric'>) {
  const text = metric.changeText(now, before);
  return (
    <span class="d">
      <span class={changeClass(metric, text)}>{text}</span>
      <span>{metric.context(now, before)}</span>
    </span>
  );
}

const WIDTH = 100;
const HEIGHT = 28;

function Sparkline({ overview, starts, metric: { figure, name } }: Omit<Props, 'onChoose'>) {
  const now = valuesOf(overview.series, starts, figure);
  const was = valuesBefore(overview, starts, figure);
  const max = Math.max(...now.map((value) => value ?? 0), ...was.map((value) => value ?? 0)) || 1;
  const y = (value: number): number => HEIGHT - 1 - (value / max) * (HEIGHT - 2);
  const step = WIDTH / Math.max(1, starts.length);
  return (
    <svg
      class={name === 'errors' ? 'spark badline' : 'spark'}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      <path class="was" d={lineOf(was, step, y)} />
      <path class="now" d={lineOf(now, step, y)} />
    </svg>
  );
}
