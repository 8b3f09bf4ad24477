import { useCallback, useRef, useState } from 'preact/hooks';
import { addressWith, go, useAddress } from '../../address/address.ts';
import { useCurrentKey } from '../../api/current-key.ts';
import { useLostSince } from '../../api/reachability.ts';
import { count, counted } from '../../format/numbers.ts';
import { dateTime } from '../../format/times.ts';
import { FilterBar } from '../../parts/filters/filter-bar.tsx';
import { useShortcut } from '../../parts/keyboard.ts';
import type { Range } from '../../parts/range/range.ts';
import { RangePicker, useRange } from '../../parts/range/range-picker.tsx';
import { Empty, FailureNote, SkeletonRows } from '../../parts/states.tsx';
import { OrderChoice } from '../../parts/table/order-choice.tsx';
import { TopBar } from '../../parts/top-bar.tsx';
import { useChosenColumns } from './chosen-columns.ts';
import { ColumnsMenu } from './columns-menu.tsx';
import { GenerationDrawer } from './detail/generation-drawer.tsx';
import { ExportMenu } from './export-menu.tsx';
import { Histogram, useCounts } from './histogram.tsx';
import type { LogColumn } from './log-columns.tsx';
import { logFields, logParameters } from './log-fields.ts';
import { LogList } from './log-list.tsx';
import {
  isNewestFirst,
  LOG_ORDERS,
  type LogOrder,
  type LogSort,
  nextOrder,
  orderOf,
  orderText,
} from './log-order.ts';
import { LogSearch } from './log-search.tsx';
import { mergedRows } from './merge-rows.ts';
import type { ShownGeneration } from './shown-generation.ts';
import { useLogRows } from './use-log-rows.ts';
import { type RunningRows, useRunningRows } from './use-running-rows.ts';

/** The log of generations. Filters, range and the open generation live in the address. */
export function Log() {
  const address = useAddress();
  const range = useRange();
  const parameters = logParameters(address.query);
  const isManagement = useCurrentKey().is_management_key;
  const isMoving = range.to === 'now';
  const order = orderOf(address.query);
  const canBeLive = isMoving && isNewestFirst(order);
  const isLive = canBeLive && address.query.get('live') !== '0';
  const isLost = useLostSince() !== null;
  const counting = useCounts(range, parameters, isLive);
  const { counts } = counting;
  const running = useRunningRows(parameters, isLive);
  const columns = useChosenColumns();
  const toggleLive = useCallback(
    () => go(addressWith(address, { live: isLive ? '0' : null }), { replace: true }),
    [address, isLive],
  );
  useShortcut('l', toggleLive);
  const choose = (chosen: LogOrder): void => go(addressWith(address, { sort: orderText(chosen) }));
  return (
    <>
      <TopBar
        title="Log"
        detail={
          counts === undefined ? undefined : (
            <>
              <span>
                {counts.counted_from !== null && 'at least '}
                {counted(counts.total, 'generation')}
              </span>
              {running.total !== null && running.total > 0 && <span>, {count(running.total)} running</span>}
            </>
          )
        }
      >
        <RangePicker />
        <button
          class="b"
          type="button"
          aria-pressed={isLive}
          disabled={!canBeLive}
          title={liveTitle(isMoving, canBeLive, isLost)}
          onClick={toggleLive}
        >
          <span class={isLive ? (isLost ? 'dot warn' : 'live-dot') : 'dot off'} />
          Live
        </button>
        <ExportMenu range={range} parameters={parameters} />
      </TopBar>
      <FilterBar
        fields={logFields(isManagement)}
        before={
          <>
            <OrderChoice orders={LOG_ORDERS} order={order} onChoose={choose} />
            <LogSearch />
          </>
        }
      >
        <ColumnsMenu chosen={columns} />
      </FilterBar>
      <main id="main">
        <Rows
          key={JSON.stringify([range, parameters, order])}
          order={order}
          onSort={(by) => choose(nextOrder(order, by))}
          range={range}
          parameters={parameters}
          isLive={isLive}
          counting={counting}
          running={running}
          columns={columns.columns}
        />
      </main>
    </>
  );
}

function liveTitle(isMoving: boolean, canBeLive: boolean, isLost: boolean): string {
  if (!isMoving) return 'This range has ended';
  if (!canBeLive) return 'Only a log with the newest first is live';
  return isLost ? 'The gateway does not answer' : 'New and running generations every three seconds';
}

interface RowsProps {
  readonly order: LogOrder;
  readonly onSort: (by: LogSort) => void;
  readonly range: Range;
  readonly parameters: Readonly<Record<string, string>>;
  readonly isLive: boolean;
  readonly counting: ReturnType<typeof useCounts>;
  readonly running: RunningRows;
  readonly columns: readonly LogColumn[];
}

function Rows({ order, onSort, range, parameters, isLive, counting, running, columns }: RowsProps) {
  const { counts } = counting;
  const address = useAddress();
  const [isAtTop, setAtTop] = useState(true);
  const selectedId = address.fragment.startsWith('gen-') ? address.fragment : null;
  const isHeld = !isAtTop || selectedId !== null;
  const log = useLogRows(range, parameters, { order, isLive, isHeld });
  const addressOfId = (id: string) => addressWith({ ...address, fragment: id }, {});
  const step = (id: string): void => go(addressOfId(id), { replace: true });
  const shownRunning = useHeld(running.rows, isHeld);
  // Ended rows count before running ones: a row turns exact in its place.
  const rows = isLive ? mergedRows<ShownGeneration>(shownRunning, log.rows) : log.rows;
  const place = rows.findIndex(({ id }) => id === selectedId);
  const isEmpty = !log.isPending && log.error === null && rows.length === 0 && log.searchedTo === null;
  const missing = counts?.missing_before ?? null;
  const searchNote = log.searchedTo !== null && log.error === null && (
    <SearchNote searchedTo={log.searchedTo} order={order} hasRows={rows.length > 0} />
  );
  const head = (
    <>
      {counts !== undefined && counts.total > 0 && <Histogram counts={counts} />}
      {counting.error !== null && (
        <div class="pad">
          <FailureNote error={counting.error} onRetry={counting.retry} />
        </div>
      )}
      {missing !== null && (
        <p class="pad t3 sm">
          Generations before {new Date(missing).toLocaleString()} are no longer kept one by one.
        </p>
      )}
      {order.by !== 'created_at' && searchNote}
    </>
  );
  return (
    <div class={selectedId === null ? 'split log-split solo' : 'split log-split'}>
      <LogList
        rows={rows}
        columns={columns}
        order={order}
        onSort={onSort}
        head={head}
        selectedId={selectedId}
        hrefOf={addressOfId}
        onStep={step}
        onTop={setAtTop}
        onEnd={log.loadMore}
        newer={log.newer}
        onShowNewer={log.showNewer}
      >
        {log.isPending && <SkeletonRows count={16} />}
        {log.error !== null && (
          <div class="pad">
            <FailureNote error={log.error} onRetry={log.retry} />
          </div>
        )}
        {isEmpty && <NoRows hasFilters={Object.keys(parameters).length > 0} />}
        {order.by === 'created_at' && searchNote}
        {log.isLoadingMore && <SkeletonRows count={4} />}
      </LogList>
      {selectedId !== null && (
        <GenerationDrawer
          id={selectedId}
          running={running.isRunning(selectedId) ? rows[place] : undefined}
          row={rows[place]}
          previousId={rows[place - 1]?.id}
          nextId={place < 0 ? undefined : rows[place + 1]?.id}
          onStep={step}
        />
      )}
    </div>
  );
}

interface SearchProps {
  readonly searchedTo: string;
  readonly order: LogOrder;
  readonly hasRows: boolean;
}

/** How far a search has come that goes on. */
function SearchNote({ searchedTo, order, hasRows }: SearchProps) {
  const isForwards = order.by === 'created_at' && !order.isDescending;
  const moment = dateTime(Date.parse(searchedTo));
  return (
    <p class="pad t3 sm" role="status">
      {hasRows ? 'Searched' : 'Nothing found yet, searched'} {isForwards ? 'up to' : 'back to'} {moment}. The
      search goes on{order.by === 'created_at' ? '' : ', and may put others first'}.
    </p>
  );
}

/** Running rows as they are, or, while the list must not move, those of before with what is known of them now. */
function useHeld(running: readonly ShownGeneration[], isHeld: boolean): readonly ShownGeneration[] {
  const shown = useRef(running);
  if (isHeld) {
    const now = new Map(running.map((row) => [row.id, row]));
    shown.current = shown.current.map((row) => now.get(row.id) ?? row);
  } else shown.current = running;
  return shown.current;
}

function NoRows({ hasFilters }: { readonly hasFilters: boolean }) {
  const address = useAddress();
  if (!hasFilters) {
    return (
      <Empty title="No generations in this range">
        <p>
          Every request to a model appears here, with its cost, its attempts and its times. Choose a longer
          range.
        </p>
      </Empty>
    );
  }
  return (
    <Empty title="No generation matches these filters">
      <p>Remove a filter, or choose a longer range.</p>
      <button class="b" type="button" onClick={() => go(address.path)}>
        Remove all filters
      </button>
    </Empty>
  );
}
