import type { ComponentChildren } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { count } from '../../format/numbers.ts';
import { useShortcut } from '../../parts/keyboard.ts';
import { useRowWindow } from '../../parts/table/use-row-window.ts';
import type { LogColumn } from './log-columns.tsx';
import type { LogOrder, LogSort } from './log-order.ts';
import { PhoneRows, TableRows } from './log-table.tsx';
import { withDays, withoutDays } from './merge-rows.ts';
import type { ShownGeneration } from './shown-generation.ts';

interface Props {
  readonly rows: readonly ShownGeneration[];
  readonly columns: readonly LogColumn[];
  readonly order: LogOrder;
  readonly onSort: (by: LogSort) => void;
  /** Above the rows, inside what scrolls. */
  readonly head: ComponentChildren;
  readonly selectedId: string | null;
  readonly hrefOf: (id: string) => string;
  /** J and K went on to another while one is open. */
  readonly onStep: (id: string) => void;
  readonly onTop: (isAtTop: boolean) => void;
  readonly onEnd: () => void;
  /** New rows that wait. */
  readonly newer: number;
  readonly onShowNewer: () => void;
  /** Below the rows. */
  readonly children?: ComponentChildren;
}

const ROW_HEIGHT = 32;
const PHONE_ROW_HEIGHT = 58;
/** Histogram and column heads; only for knowing which rows are in sight. */
const HEAD_HEIGHT = 90;
const ROWS_BEFORE_END = 40;
const PHONE = '(max-width: 760px)';

/** The rows of the log, of which only those in sight are drawn. J and K go through them. */
export function LogList(props: Props) {
  const { selectedId, hrefOf, onStep, onTop, onEnd, newer, onShowNewer } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const isPhone = useIsPhone();
  const rowHeight = isPhone ? PHONE_ROW_HEIGHT : ROW_HEIGHT;
  const isByTime = props.order.by === 'created_at';
  const listed = useMemo(
    () => (isByTime ? withDays(props.rows) : withoutDays(props.rows)),
    [props.rows, isByTime],
  );
  const view = useRowWindow(scroller, listed.length, rowHeight, HEAD_HEIGHT);
  const [current, setCurrent] = useState<string | null>(null);
  /** Where J and K are: known at once, while what is drawn follows. */
  const place = useRef<string | null>(selectedId);
  const showRow = (id: string): void =>
    view.scrollTo(listed.findIndex((row) => row.kind === 'generation' && row.generation.id === id));
  useEffect(() => {
    if (selectedId === null || selectedId === place.current) return;
    place.current = selectedId;
    if (props.rows.some(({ id }) => id === selectedId)) showRow(selectedId);
  }, [selectedId]);
  useEffect(() => onTop(view.isAtTop), [view.isAtTop, onTop]);
  const isNearEnd = view.to >= listed.length - ROWS_BEFORE_END;
  useEffect(() => {
    if (isNearEnd) onEnd();
  }, [isNearEnd, onEnd]);
  const step = (by: number): void => {
    const ids = props.rows.map(({ id }) => id);
    const from = ids.indexOf(place.current ?? '');
    const next = ids[Math.max(0, Math.min(ids.length - 1, from + by))];
    if (next === undefined) return;
    place.current = next;
    showRow(next);
    if (selectedId === null) setCurrent(next);
    else onStep(next);
  };
  useShortcut('j', () => step(1));
  useShortcut('ArrowDown', () => step(1));
  useShortcut('k', () => step(-1));
  useShortcut('ArrowUp', () => step(-1));
  useEffect(() => {
    if (current === null || selectedId !== null) return;
    scroller.current
      ?.querySelector<HTMLElement>(`[data-id="${CSS.escape(current)}"] a`)
      ?.focus({ preventScroll: true });
  }, [current, selectedId]);
  const shown = listed.slice(view.from, view.to);
  const show = (): void => {
    onShowNewer();
    scroller.current?.scrollTo({ top: 0 });
  };
  const newerNote =
    newer === 0 ? null : (
      <span class="push" role="status">
        {count(newer)} newer waiting{' '}
        <button class="link" type="button" onClick={show}>
          Show
        </button>
      </span>
    );
  const Rows = isPhone ? PhoneRows : TableRows;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard.
    <section class="list" ref={scroller} tabIndex={0} aria-label="Generations">
      {props.head}
      {newerNote !== null && <div class="newer">{newerNote}</div>}
      <Rows
        rows={shown}
        columns={props.columns}
        order={props.order}
        onSort={props.onSort}
        from={view.from}
        total={listed.length}
        above={view.above}
        below={view.below}
        selectedId={selectedId}
        hrefOf={hrefOf}
      />
      {props.children}
    </section>
  );
}

function useIsPhone(): boolean {
  const [isPhone, setPhone] = useState(() => matchMedia(PHONE).matches);
  useEffect(() => {
    const media = matchMedia(PHONE);
    const read = (): void => setPhone(media.matches);
    media.addEventListener('change', read);
    return () => media.removeEventListener('change', read);
  }, []);
  return isPhone;
}
