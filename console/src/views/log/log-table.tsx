import { useEffect, useMemo, useRef } from 'preact/hooks';
import { go } from '../../address/address.ts';
import { Link } from '../../address/link.tsx';
import { clockTime, dateTime, dayName } from '../../format/times.ts';
import {
  costCell,
  DATED_TIME,
  FAILURE_CLASS,
  failureOf,
  type LogColumn,
  shownDuration,
} from './log-columns.tsx';
import type { LogOrder, LogSort } from './log-order.ts';
import { modelParts, STATES } from './log-words.ts';
import type { LogRow } from './merge-rows.ts';
import { RowMarks } from './row-marks.tsx';
import type { ShownGeneration } from './shown-generation.ts';

/** The part of the log that is drawn. */
export interface DrawnRows {
  readonly rows: readonly LogRow[];
  readonly columns: readonly LogColumn[];
  readonly order: LogOrder;
  readonly onSort: (by: LogSort) => void;
  /** Index of the first among all. */
  readonly from: number;
  readonly total: number;
  /** Heights of what is not drawn, pixels. */
  readonly above: number;
  readonly below: number;
  readonly selectedId: string | null;
  readonly hrefOf: (id: string) => string;
}

/** Rows as a table. */
export function TableRows(drawn: DrawnRows) {
  const { rows, order, onSort, from, total, above, below, selectedId, hrefOf } = drawn;
  const isByTime = order.by === 'created_at';
  const columns = useMemo(
    () =>
      drawn.columns.map((column) =>
        isByTime || column.id !== 'time' ? column : { ...column, ...DATED_TIME },
      ),
    [drawn.columns, isByTime],
  );
  return (
    <table class="logt" aria-label="Generations" aria-rowcount={total + 1}>
      <colgroup>
        {columns.map(({ id, width }) => (
          <col key={id} class={width} />
        ))}
      </colgroup>
      <thead>
        <tr>
          {columns.map((column) => (
            <Head key={column.id} column={column} order={order} onSort={onSort} />
          ))}
        </tr>
      </thead>
      <tbody>
        <SpaceRow height={above} />
        {rows.map((row, index) =>
          row.kind === 'day' ? (
            <DayRow key={`day ${row.atMs}`} atMs={row.atMs} columns={columns} index={from + index + 2} />
          ) : (
            <GenerationRow
              key={row.generation.id}
              generation={row.generation}
              columns={columns}
              index={from + index + 2}
              isSelected={row.generation.id === selectedId}
              href={hrefOf(row.generation.id)}
            />
          ),
        )}
        <SpaceRow height={below} />
      </tbody>
    </table>
  );
}

interface HeadProps extends Pick<DrawnRows, 'order' | 'onSort'> {
  readonly column: LogColumn;
}

function Head({ column: { id, title, class: name, sort }, order, onSort }: HeadProps) {
  const isSorted = sort === order.by;
  return (
    <th
      scope="col"
      class={typeof name === 'string' ? name.replace(/\b(?:cut|dim|nw)\b/g, '') : 'o2'}
      aria-sort={isSorted ? (order.isDescending ? 'descending' : 'ascending') : undefined}
    >
      {sort === undefined ? (
        <span class={id === 'state' ? 'vh' : undefined}>{title}</span>
      ) : (
        <button class="th-sort" type="button" onClick={() => onSort(sort)}>
          {title}
          {isSorted && <span aria-hidden="true">{order.isDescending ? ' ↓' : ' ↑'}</span>}
        </button>
      )}
    </th>
  );
}

interface DayProps {
  readonly atMs: number;
  readonly columns: readonly LogColumn[];
  readonly index: number;
}

/** The columns that every list has, however narrow. */
const ALWAYS_THERE = 3;

/** The day of the rows below. A cell over columns that a narrow list leaves out would widen the table by them. */
function DayRow({ atMs, columns, index }: DayProps) {
  return (
    <tr class="day" aria-rowindex={index}>
      <td colSpan={ALWAYS_THERE}>{dayName(atMs)}</td>
      {columns.slice(ALWAYS_THERE).map(({ id, width }) => (
        <td key={id} class={width} />
      ))}
    </tr>
  );
}

interface RowProps {
  readonly generation: ShownGeneration;
  readonly columns: readonly LogColumn[];
  readonly index: number;
  readonly isSelected: boolean;
  readonly href: string;
}

function GenerationRow({ generation: row, columns, index, isSelected, href }: RowProps) {
  // Scrolling draws the list again with each row that comes into sight: those that stay are not compared.
  return useMemo(
    () => (
      <tr
        data-id={row.id}
        aria-rowindex={index}
        aria-current={isSelected ? 'true' : undefined}
        class={isSelected ? 'sel' : ''}
        onClick={(event) => {
          if ((event.target as Element).closest('a') === null) go(href);
        }}
      >
        {columns.map(({ id, class: name, cell, hint }) => (
          <td key={id} class={typeof name === 'string' ? name : name(row)} title={hint?.(row)}>
            {cell(row, href)}
          </td>
        ))}
      </tr>
    ),
    [row, columns, index, isSelected, href],
  );
}

/** Rows of two lines, for phones. */
export function PhoneRows({ rows, order, above, below, selectedId, hrefOf }: DrawnRows) {
  return (
    <ul class="m-log" aria-label="Generations">
      <SpaceItem height={above} />
      {rows.map((row) =>
        row.kind === 'day' ? (
          <li class="day" key={`day ${row.atMs}`}>
            {dayName(row.atMs)}
          </li>
        ) : (
          <PhoneRow
            key={row.generation.id}
            generation={row.generation}
            isDated={order.by !== 'created_at'}
            isSelected={row.generation.id === selectedId}
            href={hrefOf(row.generation.id)}
          />
        ),
      )}
      <SpaceItem height={below} />
    </ul>
  );
}

interface PhoneRowProps extends Pick<RowProps, 'generation' | 'isSelected' | 'href'> {
  /** With its day: the rows above it are not in order of time. */
  readonly isDated: boolean;
}

function PhoneRow({ generation: row, isDated, isSelected, href }: PhoneRowProps) {
  const state = STATES[row.state];
  const atMs = Date.parse(row.created_at);
  const failure = failureOf(row);
  return (
    <li data-id={row.id} aria-current={isSelected ? 'true' : undefined}>
      <span class={`dot ${state.dot}`} title={state.text} />
      <Link class="cut" href={href}>
        {modelParts(row.model).name || <span class="dim">no model read</span>} <RowMarks row={row} />
      </Link>
      <span class="num">{costCell(row)}</span>
      <p class="cut">
        {failure === undefined ? (
          (row.provider_name ?? '–')
        ) : (
          <span class={FAILURE_CLASS[row.state]}>{failure}</span>
        )}{' '}
        · {row.key_name ?? '–'}
      </p>
      <p class="num">
        {isDated ? dateTime(atMs) : clockTime(atMs).slice(0, 8)} · {shownDuration(row.duration_ms)}
      </p>
    </li>
  );
}

/** The height of rows that are not drawn, set through the CSSOM: the policy refuses style attributes. */
function useHeight<Element extends HTMLElement>(height: number) {
  const element = useRef<Element>(null);
  useEffect(() => {
    if (element.current !== null) element.current.style.height = `${height}px`;
  }, [height]);
  return element;
}

function SpaceRow({ height }: { readonly height: number }) {
  const cell = useHeight<HTMLTableCellElement>(height);
  if (height <= 0) return null;
  return (
    <tr class="space">
      <td ref={cell} />
    </tr>
  );
}

function SpaceItem({ height }: { readonly height: number }) {
  const item = useHeight<HTMLLIElement>(height);
  return height <= 0 ? null : <li class="space" ref={item} />;
}
