import { useCallback, useRef, useState } from 'preact/hooks';
import { addressWith, go, useAddress } from '../../address/address.ts';
import { dateTime, zoneName } from '../../format/times.ts';
import { Icon } from '../icon.tsx';
import { useShortcut } from '../keyboard.ts';
import { Popover } from '../popover.tsx';
import {
  knownMomentsOf,
  LAST_24_HOURS,
  momentOf,
  momentsOf,
  PRESETS,
  parametersOf,
  presetOf,
  type Range,
  rangeOf,
} from './range.ts';

/** The range of the address. Its words are stable, so they serve as the key of a query. */
export function useRange(fallback: Range = LAST_24_HOURS): Range {
  return rangeOf(useAddress().query, fallback);
}

/** Whether the address asks to compare with the period before. */
export function useCompare(): boolean {
  return useAddress().query.get('compare') === '1';
}

interface Props {
  /** The range without one in the address. */
  readonly fallback?: Range;
  /** Offers to compare with the period before. */
  readonly canCompare?: boolean;
}

/** The button with the range of the view, which lives in the address, and its panel. R opens it. */
export function RangePicker({ fallback = LAST_24_HOURS, canCompare = false }: Props) {
  const address = useAddress();
  const range = rangeOf(address.query, fallback);
  const button = useRef<HTMLButtonElement>(null);
  const [isOpen, setOpen] = useState(false);
  useShortcut(
    'r',
    useCallback(() => setOpen(true), []),
  );
  const moments = knownMomentsOf(range, Date.now());
  const spelt = `${dateTime(moments.fromMs)} – ${dateTime(moments.toMs)}`;
  const preset = presetOf(range);
  const choose = (chosen: Range): void => {
    setOpen(false);
    go(addressWith(address, parametersOf(chosen)));
  };
  return (
    <>
      <button
        ref={button}
        class="b"
        type="button"
        aria-haspopup="dialog"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        <Icon name="clock" size={14} />
        {preset?.label ?? spelt}
        {preset !== undefined && (
          <span class="dim wide">
            {spelt} {zoneName(moments.toMs)}
          </span>
        )}
        <Icon name="down" size={12} />
      </button>
      {isOpen && (
        <Popover anchor={button} label="Range of time" class="trp" onClose={() => setOpen(false)}>
          <Panel range={range} canCompare={canCompare} onChoose={choose} />
        </Popover>
      )}
    </>
  );
}

interface PanelProps {
  readonly range: Range;
  readonly canCompare: boolean;
  readonly onChoose: (range: Range) => void;
}

function Panel({ range, canCompare, onChoose }: PanelProps) {
  const address = useAddress();
  const [from, setFrom] = useState(range.from);
  const [to, setTo] = useState(range.to);
  const [problem, setProblem] = useState<string | null>(null);
  const current = presetOf(range);
  const submit = (event: Event): void => {
    event.preventDefault();
    const found = problemOf({ from, to });
    setProblem(found);
    if (found === null) onChoose({ from: from.trim(), to: to.trim() });
  };
  return (
    <>
      <div class="trl">
        {PRESETS.map((preset) => (
          <button
            key={preset.label}
            type="button"
            aria-current={preset === current ? 'true' : undefined}
            data-first={preset === current ? '' : undefined}
            onClick={() => onChoose({ from: preset.from, to: preset.to })}
          >
            {preset.label}
          </button>
        ))}
      </div>
      <form class="trr" onSubmit={submit}>
        <div class="g2">
          <label>
            From
            <input class="in-t" value={from} onInput={(event) => setFrom(event.currentTarget.value)} />
          </label>
          <label>
            To
            <input class="in-t" value={to} onInput={(event) => setTo(event.currentTarget.value)} />
          </label>
        </div>
        {problem === null ? (
          <p class="hint">
            Such as <code>-90m</code>, <code>yesterday 9:00</code>, <code>2 Nov, 15:00</code>
          </p>
        ) : (
          <p class="hint bad" role="alert">
            {problem}
          </p>
        )}
        <button class="b" type="submit">
          Show this range
        </button>
        {canCompare && (
          <label class="ck">
            <input
              type="checkbox"
              checked={address.query.get('compare') === '1'}
              onChange={(event) =>
                go(addressWith(address, { compare: event.currentTarget.checked ? '1' : null }))
              }
            />
            Compare with the period before
          </label>
        )}
        <hr class="hr0" />
        <p class="sm">
          Times in <b>{Intl.DateTimeFormat().resolvedOptions().timeZone}</b>.
          <br />
          <span class="t3">Budgets reset at midnight UTC.</span>
        </p>
      </form>
    </>
  );
}

function problemOf(range: Range): string | null {
  const nowMs = Date.now();
  for (const words of [range.from, range.to]) {
    if (momentOf(words, nowMs) === null) return `“${words}” is not a time this field knows.`;
  }
  return momentsOf(range, nowMs) === null ? 'The range ends before it begins.' : null;
}
