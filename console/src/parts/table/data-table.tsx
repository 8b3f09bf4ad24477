import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { useShortcut } from '../keyboard.ts';
import type { Sort } from './sort.ts';
import { useShownColumns } from './use-shown-columns.ts';
import { useVirtualRows } from './use-virtual-rows.ts';

/** One column of a table. */
export interface Column<Row> {
  /** Names it in the address. */
  readonly name: string;
  readonly title: string;
  /** Shown to screen readers only. */
  readonly isTitleHidden?: boolean;
  /** Class of a fixed width, such as `c-104`; without it the column takes its share of the rest. */
  readonly width?: string;
  /** When the table is narrow, columns of 4 leave first, then those of 3 and 2. Columns without it stay. */
  readonly priority?: 2 | 3 | 4;
  readonly isNumber?: boolean;
  /** The first click sorts the largest on top, as it does for numbers. */
  readonly isLargestFirst?: boolean;
  /** What rows are sorted by; without it the column does not sort. */
  readonly sortValue?: (row: Row) => string | number | null;
  readonly cell: (row: Row) => ComponentChildren;
}

interface Props<Row> {
  /** What the rows are, for screen readers. */
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly idOf: (row: Row) => string;
  /** Pixels, until a row is drawn: 32 for one line, 46 for two. */
  readonly rowHeight?: 32 | 46;
  readonly sort?: Sort | null;
  readonly onSort?: (sort: Sort) => void;
  /** Opens a row: a click on it, or Enter. */
  readonly onOpen?: (row: Row) => void;
  readonly isQuiet?: (row: Row) => boolean;
  /** Set for a row that is a heading of those below it: it is drawn across all columns. */
  readonly headingOf?: (row: Row) => string | null;
  /** Called when the last row comes near, while there are more to load. */
  readonly onEnd?: (() => void) | undefined;
}

/** How near the last row is when more rows are asked for. */
const ROWS_BEFORE_END = 30;

/** Rows of one height, of which only those in sight are drawn. J and K go through them. */
export function DataTable<Row>(props: Props<Row>) {
  const { label, columns, rows, idOf, rowHeight = 32, onOpen, isQuiet, headingOf, onEnd } = props;
  const table = useRef<HTMLTableElement>(null);
  const body = useRef<HTMLTableSectionElement>(null);
  const shownColumns = useShownColumns(table, columns.length);
  const [height, setHeight] = useState<number>(rowHeight);
  const { from, to, above, below, scrollTo } = useVirtualRows(body, rows.length, height);
  // Phones and the reader's density have rows of another height. Not measured at each step of a scroll: that is slow.
  useLayoutEffect(() => {
    const measure = (): void => {
      const drawn = body.current?.querySelector('tr[data-index]')?.getBoundingClientRect().height;
      if (drawn !== undefined && drawn > 0) setHeight(drawn);
    };
    measure();
    window.addEventListener('resize', measure);
    return () => window.removeEventListener('resize', measure);
  }, [to === 0, rowHeight]);
  const current = useRef(-1);
  /** The row that gets the focus as soon as it is drawn. */
  const wanted = useRef<number | null>(null);
  const step = (by: number): void => {
    if (onOpen === undefined || rows.length === 0) return;
    const next = Math.max(0, Math.min(rows.length - 1, current.current + by));
    wanted.current = next;
    scrollTo(next);
    focusWanted();
  };
  const focusWanted = (): void => {
    if (wanted.current === null) return;
    const row = body.current?.querySelector<HTMLElement>(`[data-index="${wanted.current}"] .row-open`);
    if (row === null || row === undefined) return;
    wanted.current = null;
    row.focus({ preventScroll: true });
  };
  useShortcut('j', () => step(1));
  useShortcut('k', () => step(-1));
  useEffect(focusWanted);
  const isNearEnd = to >= rows.length - ROWS_BEFORE_END;
  useEffect(() => {
    if (isNearEnd) onEnd?.();
  }, [isNearEnd, onEnd, rows.length]);
  return (
    <div class="list dt">
      <table
        ref={table}
        class={rowHeight === 46 ? 'two-line' : undefined}
        aria-label={label}
        aria-rowcount={rows.length + 1}
      >
        <colgroup>
          {columns.map((column) => (
            <col key={column.name} class={`${column.width ?? ''} ${priorityClass(column)}`} />
          ))}
        </colgroup>
        <thead>
          <tr>
            {columns.map((column) => (
              <Head key={column.name} column={column} sort={props.sort ?? null} onSort={props.onSort} />
            ))}
          </tr>
        </thead>
        <tbody ref={body}>
          <Space height={above} columns={shownColumns} />
          {rows.slice(from, to).map((row, index) => {
            const heading = headingOf?.(row) ?? null;
            if (heading !== null) {
              return (
                <tr
                  key={`heading ${heading}`}
                  class="dt-h"
                  aria-rowindex={from + index + 2}
                  data-index={from + index}
                >
                  <th colSpan={shownColumns} scope="rowgroup">
                    {heading}
                  </th>
                </tr>
              );
            }
            return (
              <tr
                key={idOf(row)}
                data-index={from + index}
                aria-rowindex={from + index + 2}
                class={`${isQuiet?.(row) === true ? 'off-row' : ''} ${onOpen === undefined ? '' : 'opens'}`}
                onClick={(event) => {
                  const isControl =
                    (event.target as Element).closest('button, a, input, .pop, dialog') !== null;
                  if (!isControl) onOpen?.(row);
                }}
              >
                {columns.map((column, place) => (
                  <td key={column.name} class={`${priorityClass(column)} ${column.isNumber ? 'num' : ''}`}>
                    {place === 0 && onOpen !== undefined ? (
                      <button
                        class="row-open"
                        type="button"
                        onClick={() => onOpen(row)}
                        onFocus={() => {
                          current.current = from + index;
                        }}
                      >
                        {column.cell(row)}
                      </button>
                    ) : (
                      column.cell(row)
                    )}
                  </td>
                ))}
              </tr>
            );
          })}
          <Space height={below} columns={shownColumns} />
        </tbody>
      </table>
    </div>
  );
}

function priorityClass({ priority }: { readonly priority?: number }): string {
  return priority === undefined ? '' : `o${priority}`;
}

/** Rows that are not drawn, as empty space. */
function Space({ height, columns }: { readonly height: number; readonly columns: number }) {
  const cell = useRef<HTMLTableCellElement>(null);
  useEffect(() => {
    if (cell.current !== null) cell.current.style.height = `${height}px`;
  }, [height]);
  return height === 0 ? null : (
    <tr class="space">
      <td ref={cell} colSpan={columns} />
    </tr>
  );
}

interface HeadProps<Row> {
  readonly column: Column<Row>;
  readonly sort: Sort | null;
  readonly onSort: ((sort: Sort) => void) | undefined;
}

/** A heading. Figures are sorted from the largest on first, names from A. */
function Head<Row>({ column, sort, onSort }: HeadProps<Row>) {
  const { name, title, sortValue, isNumber = false, isTitleHidden = false } = column;
  const { isLargestFirst = isNumber } = column;
  const isSorted = sort?.by === name;
  const isDescending = isSorted ? !sort.isDescending : isLargestFirst;
  const direction = sort?.isDescending === true ? 'descending' : 'ascending';
  const text = isTitleHidden ? <span class="vh">{title}</span> : title;
  return (
    <th
      scope="col"
      class={`${priorityClass(column)} ${isNumber ? 'num' : ''}`}
      aria-sort={isSorted ? direction : undefined}
    >
      {sortValue === undefined || onSort === undefined ? (
        text
      ) : (
        <button class="th-sort" type="button" onClick={() => onSort({ by: name, isDescending })}>
          {text}
          {isSorted && <span aria-hidden="true">{sort.isDescending ? ' ↓' : ' ↑'}</span>}
        </button>
      )}
    </th>
  );
}
