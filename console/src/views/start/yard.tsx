import { count } from '../../format/numbers.ts';
import type { ProviderLine } from './provider-lines.ts';

/** Distances of the drawing. */
const FIRST_Y = 60;
const STEP_Y = 64;
const BOX_Y = 210;
const STOP_X = 222;

interface Props {
  readonly lines: readonly ProviderLine[];
  readonly hasClient: boolean;
}

/** The lines of the signal box: one to each provider, lit when it can carry requests. */
export function Yard({ lines, hasClient }: Props) {
  const placed = lines.map((line, index) => ({
    ...line,
    y: FIRST_Y + index * STEP_Y,
    isOn: line.models > 0,
  }));
  const open = placed.filter(({ isOn }) => isOn).map(({ name }) => name);
  return (
    <aside class="yard">
      <h2>Your signal box, now</h2>
      <p class="sm t3">A line lights up when it can carry requests.</p>
      <svg viewBox="0 0 360 420" role="img" aria-label={`Open lines: ${open.join(', ') || 'none'}`}>
        <g class={hasClient ? 'y-on' : 'y-off'}>
          <path d={`M20 ${BOX_Y}H74`} />
        </g>
        {placed.map(({ slug, y, isOn }) => (
          <g key={slug} class={isOn ? 'y-on' : 'y-off'}>
            <path d={`M130 ${BOX_Y}C196 ${BOX_Y} 156 ${y} ${STOP_X} ${y}`} />
          </g>
        ))}
        <g class="y-box">
          <rect x="74" y={BOX_Y - 14} width="56" height="28" rx="6" />
          <path d={`M82 ${BOX_Y + 4}h40M90 ${BOX_Y + 4}c10 0 10-9 20-9h12`} />
        </g>
        <g class={hasClient ? 'on' : 'off'}>
          <circle cx="20" cy={BOX_Y} r="6" />
          <text x="8" y={BOX_Y + 26}>
            your
          </text>
          <text x="8" y={BOX_Y + 41}>
            client
          </text>
        </g>
        {placed.map(({ slug, name, models, y, isOn }) => (
          <g key={slug} class={isOn ? 'on' : 'off'}>
            <circle cx={STOP_X} cy={y} r="6" />
            <text x={STOP_X + 14} y={y + 1}>
              {name}
            </text>
            <text class="sub" x={STOP_X + 14} y={y + 15}>
              {isOn ? `${count(models)} models` : 'no key'}
            </text>
          </g>
        ))}
      </svg>
    </aside>
  );
}
