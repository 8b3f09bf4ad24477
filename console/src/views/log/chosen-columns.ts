import { useState } from 'preact/hooks';
import { LOG_COLUMNS, type LogColumn } from './log-columns.tsx';

/** The columns that the reader chose, kept in this browser. */
const STORED_AS = 'signalbox-log-columns';

/** Ids of the columns that are shown besides those that always are; null = the reader has chosen none. */
function storedIds(): readonly string[] | null {
  const stored = localStorage.getItem(STORED_AS);
  return stored === null ? null : stored.split(',');
}

function columnsOf(ids: readonly string[] | null): readonly LogColumn[] {
  return LOG_COLUMNS.filter(
    ({ id, isShown }) => isShown === 'always' || (ids === null ? isShown === 'yes' : ids.includes(id)),
  );
}

/** The columns of the log, in their order, and what changes them. */
export function useChosenColumns() {
  const [ids, setIds] = useState(storedIds);
  const columns = columnsOf(ids);
  return {
    columns,
    isChanged: ids !== null,
    toggle: (id: string): void => {
      const shown = columns.map((column) => column.id);
      const next = shown.includes(id) ? shown.filter((each) => each !== id) : [...shown, id];
      localStorage.setItem(STORED_AS, next.join(','));
      setIds(next);
    },
    reset: (): void => {
      localStorage.removeItem(STORED_AS);
      setIds(null);
    },
  };
}
