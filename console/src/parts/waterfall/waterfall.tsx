import { duration } from '../../format/times.ts';
import { DURATION_AXIS } from '../chart/axis.ts';
import { ticksWithin } from '../chart/ticks.ts';
import { TimeLabels } from '../chart/time-labels.tsx';
import type { Bar, WaterfallPlan, WaterfallRow } from './waterfall-rows.ts';

const HEIGHT = 26;
/** At most so many parts between its ticks. */
const PARTS = 4;
const LEGEND = [
  ['wait', 'waiting'],
  ['strm', 'streaming'],
  ['tool', 'server tool'],
  ['fail', 'failed'],
] as const;

/** What took how long. Every bar is at least a pixel wide, so that nothing is invisible. */
export function Waterfall({ plan: { totalMs, rows } }: { readonly plan: WaterfallPlan }) {
  const ticks = ticksWithin(totalMs, PARTS, DURATION_AXIS.round);
  const places = ticks.map((ms) => ms / totalMs);
  const texts = DURATION_AXIS.texts(ticks);
  return (
    <>
      <div class="wf">
        <div class="w head" aria-hidden="true">
          <span />
          <TimeLabels labels={places.map((place, index) => ({ place, text: texts[index] ?? '' }))} />
          <span />
        </div>
        <ol aria-label={`Course of ${duration(totalMs)}`}>
          {rows.map((row, index) => (
            <Row key={index} row={row} totalMs={totalMs} grid={places} />
          ))}
        </ol>
      </div>
      <div class="legend">
        {LEGEND.map(([kind, text]) => (
          <span key={kind}>
            <svg width="10" height="10" class="wf" aria-hidden="true">
              <rect class={kind} width="10" height="10" rx="1.5" />
            </svg>
            {text}
          </span>
        ))}
      </div>
    </>
  );
}

const INDENT: Readonly<Record<WaterfallRow['kind'], string>> = {
  gateway: '',
  leg: 'leg',
  attempt: 'd1',
  tool: 'd1',
};

interface RowProps {
  readonly row: WaterfallRow;
  readonly totalMs: number;
  /** Places of the grid lines, as shares of the width. */
  readonly grid: readonly number[];
}

function Row({ row, totalMs, grid }: RowProps) {
  const fromMs = Math.min(...row.bars.map((bar) => bar.fromMs));
  const toMs = Math.max(...row.bars.map((bar) => bar.toMs));
  return (
    <li class={`w ${INDENT[row.kind]}`}>
      <span>
        {row.kind === 'attempt' && <span class={`dot ${row.failure === null ? 'ok' : 'bad'}`} />}
        <span class="cut" title={`${row.title} ${row.detail}`}>
          {row.title} <span class="dim">{row.detail}</span>
        </span>
        {row.failure !== null && <span class="bad">{row.failure}</span>}
      </span>
      <svg class="t" aria-hidden="true">
        {grid.map((place) => (
          <line key={place} class="grid" x1={`${place * 100}%`} x2={`${place * 100}%`} y1="0" y2={HEIGHT} />
        ))}
        {row.bars.map((bar) => (
          <BarOf key={bar.kind} bar={bar} totalMs={totalMs} />
        ))}
      </svg>
      <span>{duration(toMs - fromMs)}</span>
    </li>
  );
}

function BarOf({ bar: { kind, fromMs, toMs }, totalMs }: { readonly bar: Bar; readonly totalMs: number }) {
  const x = (100 * fromMs) / totalMs;
  const width = Math.max(0.3, (100 * (toMs - fromMs)) / totalMs);
  if (kind === 'sum') {
    return <line class="sum" x1={`${x}%`} x2={`${x + width}%`} y1={HEIGHT / 2} y2={HEIGHT / 2} />;
  }
  return <rect class={kind} x={`${x}%`} y="8" width={`${width}%`} height="10" rx="1.5" />;
}
