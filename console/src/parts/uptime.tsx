import type { UptimeObject } from '../api/contract.ts';
import { count, counted, percent } from '../format/numbers.ts';

/** Calls over a time, and the share that was answered. */
export type UptimeWindow = UptimeObject['last_1d'];

const DAYS = 30;

/** Share of failed calls from which a day is amber, and red. */
const SOME_SHARE = 0.01;
const MANY_SHARE = 0.1;

/** A day: well, some failed, many failed, no calls. */
export function dayTone(calls: number, failures: number): 'o' | 'p' | 'q' | 'z' {
  if (calls === 0) return 'z';
  const share = failures / calls;
  if (share < SOME_SHARE) return 'o';
  return share < MANY_SHARE ? 'p' : 'q';
}

/** Calls of several endpoints together. */
export function together(windows: readonly UptimeWindow[]): UptimeWindow {
  const calls = windows.reduce((sum, each) => sum + each.calls, 0);
  const failures = windows.reduce((sum, each) => sum + each.failures, 0);
  const share = calls === 0 ? null : Math.floor((10_000 * (calls - failures)) / calls) / 100;
  return { calls, failures, percent: share };
}

function callsText(calls: number, failures: number): string {
  if (calls === 0) return 'no calls';
  return `${counted(calls, 'call')}, ${failures === 0 ? 'none' : count(failures)} failed`;
}

/** Fewer calls than this say nothing in per cent. */
const ENOUGH_CALLS = 100;

export function answeredText(calls: number, failures: number): string {
  const answered = calls - failures;
  // Rounded down: with a failed call it is not 100 %.
  return calls < ENOUGH_CALLS
    ? `${answered} of ${calls}`
    : percent(Math.floor((1_000 * answered) / calls) / 1_000);
}

/** The share of calls that were answered. Undefined = it is not known now. */
export function Answered({ window }: { readonly window: UptimeWindow | undefined }) {
  if (window === undefined) return <span title="not known now">–</span>;
  const text = callsText(window.calls, window.failures);
  if (window.percent === null) return <span title={text}>–</span>;
  return <span title={text}>{answeredText(window.calls, window.failures)}</span>;
}

/** A bar for each of the last 30 periods of 24 hours, newest at the right. Null = no calls. */
export function UptimeStrip({ days }: { readonly days: UptimeObject['days'] }) {
  const calls = days?.calls ?? new Array<number>(DAYS).fill(0);
  const failures = days?.failures ?? [];
  const { calls: all, failures: failed } = together(
    calls.map((each, day) => ({ calls: each, failures: failures[day] ?? 0, percent: null })),
  );
  return (
    <svg
      class="up"
      viewBox={`0 0 ${calls.length * 4} 16`}
      preserveAspectRatio="none"
      role="img"
      aria-label={`30 days: ${callsText(all, failed)}`}
    >
      {calls.map((each, day) => {
        const ago = calls.length - 1 - day;
        const when = ago === 0 ? 'The last 24 hours' : `${counted(ago, 'day')} before`;
        return (
          <rect key={ago} class={dayTone(each, failures[day] ?? 0)} x={day * 4} y="0" width="3" height="16">
            <title>{`${when}: ${callsText(each, failures[day] ?? 0)}`}</title>
          </rect>
        );
      })}
    </svg>
  );
}

/** What the bars mean. */
export function UptimeLegend() {
  return (
    <p class="sm t3">
      Each bar is 24 hours: pale if at least 99 % of the calls were answered, amber from 90 %, red below, grey
      without calls. Kept when the gateway restarts.
    </p>
  );
}

const FIGURES = [
  ['24 hours', 'last_1d'],
  ['7 days', 'last_7d'],
  ['30 days', 'last_30d'],
] as const;

/** Bars and figures of one provider. Null = the database does not answer. */
export function Uptime({ uptime }: { readonly uptime: UptimeObject | null }) {
  if (uptime === null) return <p class="sm t3">Not known now: the database does not answer.</p>;
  return (
    <>
      <UptimeStrip days={uptime.days} />
      <dl class="upf">
        {FIGURES.map(([title, member]) => (
          <div key={member}>
            <dt>{title}</dt>
            <dd>
              {uptime[member].percent === null ? (
                <span class="dim">no calls</span>
              ) : (
                <Answered window={uptime[member]} />
              )}
            </dd>
            {uptime[member].calls >= ENOUGH_CALLS && (
              <dd class="sm t3">{counted(uptime[member].calls, 'call')}</dd>
            )}
          </div>
        ))}
      </dl>
      <UptimeLegend />
    </>
  );
}
