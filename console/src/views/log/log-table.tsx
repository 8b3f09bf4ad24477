import { useEffect, useMemo, useRef } from 'preact/hooks';
import { go } from '../../address/address.ts';
import { Link } from '../../address/link.tsx';
import { clockTime, dayName } from '../../format/times.ts';
import { costCell, failureOf, type LogColumn, shownDuration } from './log-columns.tsx';
import { modelParts, STATES } from './log-words.ts';
import type { LogRow } from './merge-rows.ts';
import { RowMarks } from './row-marks.tsx';
import type { ShownGeneration } from './shown-generation.ts';

/** The part of the log that is drawn. */
export interface DrawnRows {
  readonly rows: readonly LogRow[];
  readonly columns: readonly LogColumn[];
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
  const { rows, columns, from, total, above, below, selectedId, hrefOf } = drawn;
  return (
    <table class="logt" aria-label="Generations, newest first" aria-rowcount={total + 1}>
      <colgroup>
        {columns.map(({ id, width }) => (
          <col key={id} class={width} />
        ))}
      </colgroup>
      <thead>
        <tr>
          {columns.map((column) => (
            <Head key={column.id} column={column} />
          ))}
        </tr>
      </thead>
      <tbody>
        <SpaceRow height={above} columns={columns.length} />
        {rows.map((row, index) =>
          row.kind === 'day' ? (
            <tr class="day" key={`day ${row.atMs}`} aria-rowindex={from + index + 2}>
              <td colSpan={columns.length}>{dayName(row.atMs)}</td>
            </tr>
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
        <SpaceRow height={below} columns={columns.length} />
      </tbody>
    </table>
  );
}

function Head({ column: { id, title, class: name } }: { readonly column: LogColumn }) {
  const isTime = id === 'time';
  return (
    <th
      scope="col"
      class={typeof name === 'string' ? name.replace(/\b(?:cut|dim|nw)\b/g, '') : 'o2'}
      aria-sort={isTime ? 'descending' : undefined}
    >
      {id === 'state' ? <span class="vh">{title}</span> : title}
      {isTime && <span aria-hidden="true"> ↓</span>}
    </th>
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
export function PhoneRows({ rows, above, below, selectedId, hrefOf }: DrawnRows) {
  return (
    <ul class="m-log" aria-label="Generations, newest first">
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
            isSelected={row.generation.id === selectedId}
            href={hrefOf(row.generation.id)}
          />
        ),
      )}
      <SpaceItem height={below} />
    </ul>
  );
}

function PhoneRow({
  generation: row,
  isSelected,
  href,
}: Pick<RowProps, 'generation' | 'isSelected' | 'href'>) {
  const state = STATES[row.state];
  return (
    <li data-id={row.id} aria-current={isSelected ? 'true' : undefined}>
      <span class={`dot ${state.dot}`} title={state.text} />
      <Link class="cut" href={href}>
        {modelParts(row.model).name} <RowMarks row={row} />
      </Link>
      <span class="num">{costCell(row)}</span>
      <p class="cut">
        {row.state === 'failed' ? <span class="bad">{failureOf(row)}</span> : (row.provider_name ?? '–')} ·{' '}
        {row.key_name ?? '–'}
      </p>
      <p class="num">
        {clockTime(Date.parse(row.created_at)).slice(0, 8)} · {shownDuration(row.duration_ms)}
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

function SpaceRow({ height, columns }: { readonly height: number; readonly columns: number }) {
  const cell = useHeight<HTMLTableCellElement>(height);
  if (height <= 0) return null;
  return (
    <tr class="space">
      <td ref={cell} colSpan={columns} />
    </tr>
  );
}

function SpaceItem({ height }: { readonly height: number }) {
  const item = useHeight<HTMLLIElement>(height);
  return height <= 0 ? null : <li class="space" ref={item} />;
}
