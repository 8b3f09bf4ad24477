import { useQuery } from '@tanstack/preact-query';
import type { ComponentChildren } from 'preact';
import { addressWith, go, useAddress } from '../../address/address.ts';
import type { AppRankingsReply, RankingsDailyReply } from '../../api/contract.ts';
import { ask } from '../../api/request.ts';
import { count, percent } from '../../format/numbers.ts';
import { exactFigure } from '../../parts/exact.ts';
import { Empty, FailureNote, SkeletonRows } from '../../parts/states.tsx';
import { type Column, DataTable } from '../../parts/table/data-table.tsx';
import { TopBar } from '../../parts/top-bar.tsx';
import {
  DAY_CHOICES,
  daysOf,
  type Period,
  periodsOf,
  type RankedModel,
  rankModels,
  sparkPoints,
  windowOf,
} from './days.ts';

type RankedApp = AppRankingsReply['data'][number];

/** Rankings of apps and models by their tokens. */
export function Apps() {
  const address = useAddress();
  const days = daysOf(address.query.get('days'));
  const isOfModels = address.query.get('of') === 'models';
  const set = (changes: Record<string, string | null>) => go(addressWith(address, changes));
  return (
    <>
      <TopBar title="Apps">
        <select
          class="in-t ws-choice"
          aria-label="Days"
          value={String(days)}
          onChange={(event) => set({ days: event.currentTarget.value })}
        >
          {DAY_CHOICES.map((choice) => (
            <option key={choice} value={String(choice)}>
              last {choice} days
            </option>
          ))}
        </select>
      </TopBar>
      <div class="filters">
        <div class="bgroup">
          <button class="b" type="button" aria-pressed={!isOfModels} onClick={() => set({ of: null })}>
            Apps
          </button>
          <button
            class="b"
            type="button"
            aria-pressed={isOfModels}
            onClick={() => set({ of: 'models', sort: null })}
          >
            Models
          </button>
        </div>
        {!isOfModels && (
          <select
            class="in-t ws-choice"
            aria-label="Order"
            value={address.query.get('sort') ?? 'popular'}
            onChange={({ currentTarget: { value } }) => set({ sort: value === 'popular' ? null : value })}
          >
            <option value="popular">most tokens</option>
            <option value="trending">most growth</option>
          </select>
        )}
        <span class="push sm t3 wide">All accounts of this gateway. Days are UTC.</span>
      </div>
      <main id="main">{isOfModels ? <Models days={days} /> : <AppList days={days} />}</main>
    </>
  );
}

function AppList({ days }: { readonly days: number }) {
  const sort = useAddress().query.get('sort') === 'trending' ? 'trending' : 'popular';
  const query = { ...windowOf(days, Date.now()), sort, limit: 100 };
  const read = useQuery({
    queryKey: ['app-rankings', query],
    queryFn: ({ signal }) => ask<AppRankingsReply>('/datasets/app-rankings', { query, signal }),
    staleTime: 60_000,
  });
  const rows = read.data?.data ?? [];
  const most = Math.max(1, ...rows.map(({ total_tokens: tokens }) => Number(tokens)));
  return (
    <Ranking
      read={read}
      warnings={read.data?.meta.warnings}
      isEmpty={rows.length === 0}
      empty={
        <Empty title={sort === 'trending' ? 'No app grew in these days' : 'No app was seen in these days'}>
          <p>
            A client names its app with two headers: <code>HTTP-Referer</code>, the address that it is known
            by, and <code>X-Title</code>, its name. The gateway then counts its requests and tokens here.
          </p>
        </Empty>
      }
    >
      <DataTable label="Apps" columns={appColumns(most)} rows={rows} idOf={({ app_id: id }) => String(id)} />
    </Ranking>
  );
}

function appColumns(most: number): readonly Column<RankedApp>[] {
  return [
    { name: 'rank', title: 'Rank', width: 'c-60', cell: ({ rank }) => <span class="dim">{rank}</span> },
    { name: 'app', title: 'App', cell: ({ app_name: name }) => <b title={name}>{name}</b> },
    {
      name: 'share',
      title: 'Share of top',
      width: 'c-200',
      priority: 2,
      cell: ({ total_tokens: tokens }) => <Share of={Number(tokens) / most} />,
    },
    {
      name: 'requests',
      title: 'Requests',
      width: 'c-104',
      priority: 2,
      isNumber: true,
      cell: ({ total_requests: requests }) => <Figure value={requests} />,
    },
    {
      name: 'tokens',
      title: 'Tokens',
      width: 'c-120',
      isNumber: true,
      cell: ({ total_tokens: tokens }) => <Figure value={Number(tokens)} />,
    },
  ];
}

function Models({ days }: { readonly days: number }) {
  const period: Period = days > 90 ? 'week' : 'day';
  const query = { ...windowOf(days, Date.now()), period };
  const read = useQuery({
    queryKey: ['rankings-daily', query],
    queryFn: ({ signal }) => ask<RankingsDailyReply>('/datasets/rankings-daily', { query, signal }),
    staleTime: 60_000,
  });
  const rows = rankModels(read.data?.data ?? [], periodsOf(query, period));
  const all = rows.reduce((sum, { tokens }) => sum + tokens, 0);
  return (
    <Ranking
      read={read}
      warnings={read.data?.meta.warnings}
      isEmpty={rows.length === 0}
      empty={
        <Empty title="No model was used in these days">
          <p>Every generation counts here, whichever key sent it.</p>
        </Empty>
      }
    >
      <DataTable label="Models" columns={modelColumns(all)} rows={rows} idOf={({ model }) => model} />
    </Ranking>
  );
}

function modelColumns(all: number): readonly Column<RankedModel>[] {
  return [
    {
      name: 'model',
      title: 'Model',
      cell: ({ model }) =>
        model === 'other' ? <span class="dim">all others</span> : <b title={model}>{model}</b>,
    },
    {
      name: 'course',
      title: 'Over time',
      width: 'c-130',
      priority: 2,
      cell: ({ periods }) => (
        <svg class="spark" viewBox="0 0 100 20" preserveAspectRatio="none" aria-hidden="true">
          <polyline class="now" points={sparkPoints(periods)} />
        </svg>
      ),
    },
    {
      name: 'share',
      title: 'Share',
      width: 'c-92',
      isNumber: true,
      cell: ({ tokens }) => percent(tokens / Math.max(1, all)),
    },
    {
      name: 'tokens',
      title: 'Tokens',
      width: 'c-120',
      isNumber: true,
      cell: ({ tokens }) => <Figure value={tokens} />,
    },
  ];
}

interface RankingProps {
  readonly read: {
    readonly isPending: boolean;
    readonly isError: boolean;
    readonly error: unknown;
    readonly refetch: () => unknown;
  };
  readonly warnings: readonly string[] | undefined;
  readonly isEmpty: boolean;
  readonly empty: ComponentChildren;
  readonly children: ComponentChildren;
}

/** A ranking in its states. */
function Ranking({ read, warnings = [], isEmpty, empty, children }: RankingProps) {
  if (read.isPending) return <SkeletonRows />;
  if (read.isError) {
    return (
      <div class="pad">
        <FailureNote error={read.error} onRetry={() => void read.refetch()} />
      </div>
    );
  }
  return (
    <>
      {warnings.map((warning) => (
        <p class="cut-note" key={warning}>
          {warning}
        </p>
      ))}
      {isEmpty ? empty : children}
    </>
  );
}

/** A count; hovering shows all its digits. */
function Figure({ value }: { readonly value: number }) {
  return <span {...exactFigure(String(value))}>{count(value)}</span>;
}

function Share({ of }: { readonly of: number }) {
  return (
    <svg class="bar" aria-hidden="true">
      <rect class="f" width={`${(of * 100).toFixed(1)}%`} height="100%" />
    </svg>
  );
}
