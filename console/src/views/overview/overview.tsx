import { useQuery } from '@tanstack/preact-query';
import { useCallback, useRef, useState } from 'preact/hooks';
import { addressWith, go, useAddress } from '../../address/address.ts';
import { Link } from '../../address/link.tsx';
import type { Overview } from '../../api/contract.ts';
import { useCurrentKey } from '../../api/current-key.ts';
import { FilterBar } from '../../parts/filters/filter-bar.tsx';
import { useSetFilter } from '../../parts/filters/use-filters.ts';
import { Icon } from '../../parts/icon.tsx';
import { useShortcut } from '../../parts/keyboard.ts';
import { RangePicker, useCompare } from '../../parts/range/range-picker.tsx';
import { Empty, FailureNote, SkeletonRows } from '../../parts/states.tsx';
import { TopBar } from '../../parts/top-bar.tsx';
import { Attention } from './attention.tsx';
import { Breakdown } from './breakdown.tsx';
import { ErrorCauses } from './error-causes.tsx';
import { KeyLimit } from './key-limit.tsx';
import { LedgerMark } from './ledger-mark.tsx';
import { MetricChart } from './metric-chart.tsx';
import { metricNamed } from './overview-metrics.ts';
import { DIMENSIONS, iso, overviewFields, overviewQuestion } from './overview-question.ts';
import { startsOf, swatchesOf } from './overview-series.ts';
import { StatStrip } from './stat-strip.tsx';

/** How often the figures are read again while the page is visible, milliseconds. */
const EVERY_MS = 15_000;

/** Spend, requests, speed and errors of a range, by time and group. */
export function OverviewView() {
  const address = useAddress();
  const { is_management_key: isAccount } = useCurrentKey();
  const isComparing = useCompare();
  const [isLive, setLive] = useState(true);
  const overview = useQuery<Overview>({
    ...overviewQuestion(address.query, isAccount),
    placeholderData: (previous) => previous,
    refetchInterval: isLive ? EVERY_MS : false,
  });
  useShortcut(
    'l',
    useCallback(() => setLive((before) => !before), []),
  );
  return (
    <>
      <TopBar title="Overview">
        <RangePicker canCompare />
        <button
          class={isComparing ? 'b on wide' : 'b wide'}
          type="button"
          aria-pressed={isComparing}
          onClick={() => go(addressWith(address, { compare: isComparing ? null : '1' }))}
        >
          <Icon name="compare" size={14} />
          Compare
        </button>
        <button class="b" type="button" aria-pressed={isLive} onClick={() => setLive(!isLive)}>
          <span class={isLive ? 'live-dot' : 'dot off'} />
          Live
        </button>
      </TopBar>
      <FilterBar fields={overviewFields(isAccount)}>
        <span class="sm t3 wide">
          Click a bar or row to filter by it. ⇧ click opens the log. Drag to zoom.
        </span>
        <Link class="b" href={logAddress(address.query, {})}>
          <Icon name="log" size={14} />
          Show in the log
        </Link>
      </FilterBar>
      <main id="main" class="ov" aria-busy={overview.isFetching}>
        {overview.isError && (
          <div class="pad">
            <FailureNote error={overview.error} onRetry={() => overview.refetch()} />
          </div>
        )}
        {!isAccount && <KeyLimit />}
        {overview.isPending && <SkeletonRows />}
        {overview.data !== undefined && <Figures overview={overview.data} />}
      </main>
      {overview.data !== undefined && <LedgerMark overview={overview.data} />}
    </>
  );
}

/** The parts of the page below the filters. */
function Figures({ overview }: { readonly overview: Overview }) {
  const address = useAddress();
  const setFilter = useSetFilter();
  const isComparing = useCompare();
  const [marked, setMarked] = useState<number | null>(null);
  const metric = metricNamed(address.query.get('metric'));
  const starts = startsOf(overview);
  const swatches = useSwatches(overview);
  /** Filters by a group, or opens its generations in the log. */
  const pickGroup = (
    id: string | null,
    isShift: boolean,
    extra: Readonly<Record<string, string>> = {},
  ): void => {
    if (isShift) go(logAddress(address.query, { ...extra, ...(id !== null && { [overview.by]: id }) }));
    else if (id !== null) setFilter({ name: overview.by }, [id]);
  };
  const zoom = (fromMs: number, toMs: number): void =>
    go(addressWith(address, { from: iso(fromMs), to: iso(toMs) }));
  const chart = { overview, starts, swatches, marked, onMark: setMarked, onZoom: zoom, isComparing };
  if (overview.now.request_count === 0 && overview.before.request_count === 0) return <Nothing />;
  return (
    <>
      {overview.warnings?.map((warning) => (
        <p class="note warn" key={warning}>
          {warning}
        </p>
      ))}
      <StatStrip
        overview={overview}
        starts={starts}
        metric={metric}
        onChoose={({ name }) =>
          go(addressWith(address, { metric: name === 'spend' ? null : name }), { replace: true })
        }
      />
      <div class="cols ov-main">
        <section class="cell" aria-label={`${metric.title} over time`}>
          <MetricChart
            {...chart}
            metric={metric}
            onPick={(bucketMs, endMs, id, isShift) => {
              if (id === undefined && !isShift) return;
              pickGroup(id ?? null, isShift, { from: iso(bucketMs), to: iso(endMs) });
            }}
          />
        </section>
        <section class="cell" aria-label="Breakdown">
          <Breakdown
            overview={overview}
            metric={metric}
            swatches={swatches}
            onPick={pickGroup}
            logOf={(id) => logAddress(address.query, { [overview.by]: id })}
          />
        </section>
      </div>
      <div class="cols ov-low">
        <section class="cell" aria-label="Speed">
          <MetricChart
            {...chart}
            metric={metricNamed(metric.name === 'first-token' ? 'answer-time' : 'first-token')}
            isLow
          />
        </section>
        <section class="cell" aria-label="Errors">
          <ErrorCauses overview={overview} logOf={(extra) => logAddress(address.query, extra)} />
        </section>
        <section class="cell" aria-label="Needs attention">
          <Attention overview={overview} logOf={(extra) => logAddress(address.query, extra)} />
        </section>
      </div>
    </>
  );
}

/** Parameters of the log that this view has too. */
const SHARED = ['from', 'to', ...DIMENSIONS];

/** The order of the log that shows most of a metric first; of others the log is in its usual order. */
const LOG_SORTS: Readonly<Record<string, string>> = {
  'answer-time': '-duration_ms',
  'first-token': '-latency',
};

/** The log with the filters and the range of this view, and others. */
function logAddress(query: URLSearchParams, extra: Readonly<Record<string, string>>): string {
  const shared = [...query].filter(([name]) => SHARED.includes(name) && extra[name] === undefined);
  const sort = LOG_SORTS[query.get('metric') ?? ''];
  const search = new URLSearchParams([
    ...shared,
    ...Object.entries(extra),
    ...(sort === undefined ? [] : [['sort', sort]]),
  ]).toString();
  return search === '' ? '/log' : `/log?${search}`;
}

/** Colours of groups, which they keep while the view is open. */
function useSwatches({ by, groups }: Overview): ReadonlyMap<string | null, string> {
  const kept = useRef({ by, swatches: new Map() as ReadonlyMap<string | null, string> });
  const before = kept.current.by === by ? kept.current.swatches : new Map();
  const swatches = swatchesOf(
    groups.map(({ id }) => id),
    before,
  );
  kept.current = { by, swatches };
  return swatches;
}

function Nothing() {
  const { query } = useAddress();
  const isFiltered = DIMENSIONS.some((name) => query.has(name));
  if (isFiltered) {
    return (
      <Empty title="No generations match these filters">
        <p>Remove a filter above, or choose a longer range.</p>
      </Empty>
    );
  }
  return (
    <Empty title="No generations in this range">
      <p>
        Every request to a model appears here within 15 seconds: what it cost, how fast it was, and whether it
        failed. Choose a longer range, or <Link href="/start">send a first request</Link>.
      </p>
    </Empty>
  );
}
