import { duration } from '../../format/times.ts';
import type { Bar, WaterfallPlan, WaterfallRow } from './waterfall-rows.ts';

const HEIGHT = 26;
const MARKS = [0, 25, 50, 75, 100];
const LEGEND = [
  ['wait', 'waiting'],
  ['strm', 'streaming'],
  ['tool', 'server tool'],
  ['fail', 'failed'],
] as const;

/** What took how long. Every bar is at least a pixel wide, so that nothing is invisible. */
export function Waterfall({ plan: { totalMs, rows } }: { readonly plan: WaterfallPlan }) {
  return (
    <>
      <div class="wf">
        <div class="w head" aria-hidden="true">
          <span />
          <span class="x">
            {MARKS.map((mark) => (
              <span key={mark}>{mark === 0 ? '0' : duration((totalMs * mark) / 100)}</span>
            ))}
          </span>
          <span />
        </div>
        <ol aria-label={`Course of ${duration(totalMs)}`}>
          {rows.map((row, index) => (
            <Row key={index} row={row} totalMs={totalMs} />
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

function Row({ row, totalMs }: { readonly row: WaterfallRow; readonly totalMs: number }) {
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
        {MARKS.map((mark) => (
          <line key={mark} class="grid" x1={`${mark}%`} x2={`${mark}%`} y1="0" y2={HEIGHT} />
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
