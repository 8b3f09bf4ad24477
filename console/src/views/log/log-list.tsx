import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Link } from '../../address/link.tsx';
import type { LoggedGenerationObject } from '../../api/contract.ts';
import { columnMoney } from '../../format/money.ts';
import { count } from '../../format/numbers.ts';
import { clockTime, dayName, duration } from '../../format/times.ts';
import { MoneyText } from '../../parts/money-text.tsx';
import { useRowWindow } from '../../parts/table/use-row-window.ts';
import { useShortcut } from '../../shell/shortcuts.ts';
import { errorText, modelParts, STATES } from './log-words.ts';
import { type LogRow, withDays } from './merge-rows.ts';

interface Props {
  readonly rows: readonly LoggedGenerationObject[];
  /** Above the rows, inside what scrolls. */
  readonly head: ComponentChildren;
  readonly selectedId: string | null;
  readonly hrefOf: (id: string) => string;
  readonly onSelect: (id: string, isStep: boolean) => void;
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
  const { selectedId, hrefOf, onSelect, onTop, onEnd, newer, onShowNewer } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const isPhone = useIsPhone();
  const rowHeight = isPhone ? PHONE_ROW_HEIGHT : ROW_HEIGHT;
  const listed = withDays(props.rows);
  const view = useRowWindow(scroller, listed.length, rowHeight, HEAD_HEIGHT);
  const [current, setCurrent] = useState<string | null>(null);
  /** Where J and K are: known at once, while what is drawn follows. */
  const place = useRef<string | null>(selectedId);
  useEffect(() => {
    if (selectedId !== null) place.current = selectedId;
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
    view.scrollTo(listed.findIndex((row) => row.kind === 'generation' && row.generation.id === next));
    if (selectedId === null) setCurrent(next);
    else onSelect(next, true);
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
        {count(newer)} newer, held back{' '}
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
        from={view.from}
        total={listed.length}
        above={view.above}
        below={view.below}
        selectedId={selectedId}
        hrefOf={hrefOf}
        onSelect={(id) => onSelect(id, false)}
      />
      {props.children}
    </section>
  );
}

interface RowsProps {
  readonly rows: readonly LogRow[];
  readonly from: number;
  readonly total: number;
  readonly above: number;
  readonly below: number;
  readonly selectedId: string | null;
  readonly hrefOf: (id: string) => string;
  readonly onSelect: (id: string) => void;
}

/** Columns: class of the width, title, class of the cells. */
const COLUMNS: readonly (readonly [title: string, width: string, name: string])[] = [
  ['State', 'st', 'st'],
  ['Time', 'tm', 'tm'],
  ['Model', '', ''],
  ['Provider', 'o2', 'o2'],
  ['Key', 'o2', 'o2'],
  ['Format', 'o3 c-84', 'o3'],
  ['Tokens in → out', 'o3 c-140', 'o3 num'],
  ['First token', 'o2 c-84', 'o2 num'],
  ['Total', 'c-84', 'num'],
  ['Cost', 'c-104', 'num cst'],
];

function TableRows({ rows, from, total, above, below, selectedId, hrefOf, onSelect }: RowsProps) {
  return (
    <table class="logt" aria-label="Generations, newest first" aria-rowcount={total + 1}>
      <colgroup>
        {COLUMNS.map(([title, width]) => (
          <col key={title} class={width} />
        ))}
      </colgroup>
      <thead>
        <tr>
          {COLUMNS.map(([title, , name], index) => (
            <th key={title} scope="col" class={name} aria-sort={title === 'Time' ? 'descending' : undefined}>
              {index === 0 ? <span class="vh">{title}</span> : title}
              {title === 'Time' && <span aria-hidden="true"> ↓</span>}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        <Space height={above} />
        {rows.map((row, index) =>
          row.kind === 'day' ? (
            <tr class="day" key={`day ${row.atMs}`} aria-rowindex={from + index + 2}>
              <td colSpan={COLUMNS.length}>{dayName(row.atMs)}</td>
            </tr>
          ) : (
            <GenerationRow
              key={row.generation.id}
              generation={row.generation}
              index={from + index + 2}
              isSelected={row.generation.id === selectedId}
              href={hrefOf(row.generation.id)}
              onSelect={onSelect}
            />
          ),
        )}
        <Space height={below} />
      </tbody>
    </table>
  );
}

interface RowProps {
  readonly generation: LoggedGenerationObject;
  readonly index: number;
  readonly isSelected: boolean;
  readonly href: string;
  readonly onSelect: (id: string) => void;
}

function GenerationRow({ generation: row, index, isSelected, href, onSelect }: RowProps) {
  const atMs = Date.parse(row.created_at);
  const time = clockTime(atMs);
  const { author, name } = modelParts(row.model);
  const state = STATES[row.state];
  const isFailed = row.state === 'failed';
  const failure = errorText(row.error_status, row.error_type);
  return (
    <tr
      data-id={row.id}
      aria-rowindex={index}
      aria-current={isSelected ? 'true' : undefined}
      class={isSelected ? 'sel' : ''}
      onClick={(event) => {
        if ((event.target as Element).closest('a') === null) onSelect(row.id);
      }}
    >
      <td class="st">
        <span class={`dot ${state.dot}`} title={state.text} />
        <span class="vh">{state.text}</span>
      </td>
      <td class="tm nw">
        <Link class="plain" href={href}>
          {time.slice(0, 8)}
          <span class="dim">{time.slice(8)}</span>
        </Link>
      </td>
      <td class="cut" title={row.model}>
        <span class="dim au">{author}</span>
        {name} {isFailed && <span class="only-n bad">{row.error_status ?? 'failed'}</span>}
      </td>
      <td
        class={`o2 cut ${isFailed ? 'bad' : 'prov'}`}
        title={isFailed ? failure : (row.endpoint ?? undefined)}
      >
        {isFailed ? failure : (row.provider_name ?? '–')}
      </td>
      <td class="o2 cut" title={row.key_hash ?? undefined}>
        {row.key_name ?? row.key_hash?.slice(0, 8) ?? '–'}
      </td>
      <td class="o3 dim">{row.request_format ?? '–'}</td>
      <td class="o3 num">
        {count(row.tokens_prompt)} <span class="dim">→</span> {count(row.tokens_completion)}
      </td>
      <td class="o2 num">{shownDuration(row.latency)}</td>
      <td class="num">{shownDuration(row.duration_ms)}</td>
      <td class="num cst">
        <MoneyText money={columnMoney(row.cost)} />
      </td>
    </tr>
  );
}

function PhoneRows({ rows, above, below, selectedId, hrefOf }: RowsProps) {
  return (
    <ul class="m-log" aria-label="Generations, newest first">
      <Space height={above} isListItem />
      {rows.map((row) =>
        row.kind === 'day' ? (
          <li class="day" key={`day ${row.atMs}`}>
            {dayName(row.atMs)}
          </li>
        ) : (
          <PhoneRow
            key={row.generation.id}
            generation={row.generation}
            isSelected={row.generation.id === selectedId}
            href={hrefOf(row.generation.id)}
          />
        ),
      )}
      <Space height={below} isListItem />
    </ul>
  );
}

function PhoneRow({
  generation: row,
  isSelected,
  href,
}: Pick<RowProps, 'generation' | 'isSelected' | 'href'>) {
  const state = STATES[row.state];
  const isFailed = row.state === 'failed';
  return (
    <li data-id={row.id} aria-current={isSelected ? 'true' : undefined}>
      <span class={`dot ${state.dot}`} title={state.text} />
      <Link class="cut" href={href}>
        {modelParts(row.model).name}
      </Link>
      <span class="num">
        <MoneyText money={columnMoney(row.cost)} />
      </span>
      <p class="cut">
        {isFailed ? (
          <span class="bad">{errorText(row.error_status, row.error_type)}</span>
        ) : (
          (row.provider_name ?? '–')
        )}{' '}
        · {row.key_name ?? '–'}
      </p>
      <p class="num">
        {clockTime(Date.parse(row.created_at)).slice(0, 8)} · {shownDuration(row.duration_ms)}
      </p>
    </li>
  );
}

function shownDuration(ms: number | null): string {
  return ms === null ? '–' : duration(ms);
}

/** Rows that are not drawn, as empty space. */
function Space({ height, isListItem = false }: { readonly height: number; readonly isListItem?: boolean }) {
  const element = useRef<HTMLTableCellElement & HTMLLIElement>(null);
  useEffect(() => {
    if (element.current !== null) element.current.style.height = `${height}px`;
  }, [height]);
  if (height <= 0) return null;
  if (isListItem) return <li class="space" ref={element} />;
  return (
    <tr class="space">
      <td ref={element} colSpan={COLUMNS.length} />
    </tr>
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
