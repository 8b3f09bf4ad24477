import { useRef, useState } from 'preact/hooks';
import { Popover } from '../../parts/popover.tsx';
import type { useChosenColumns } from './chosen-columns.ts';
import { LOG_COLUMNS } from './log-columns.tsx';

/** Chooses the columns of the log. */
export function ColumnsMenu({ chosen }: { readonly chosen: ReturnType<typeof useChosenColumns> }) {
  const button = useRef<HTMLButtonElement>(null);
  const [isOpen, setOpen] = useState(false);
  const shown = new Set(chosen.columns.map(({ id }) => id));
  return (
    <>
      <button
        ref={button}
        class="b quiet wide"
        type="button"
        aria-haspopup="dialog"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        Columns
      </button>
      {isOpen && (
        <Popover anchor={button} label="Columns" onClose={() => setOpen(false)}>
          <div class="pick">
            <ul>
              {LOG_COLUMNS.filter(({ isShown }) => isShown !== 'always').map(({ id, title }) => (
                <li key={id}>
                  <label class="ck">
                    <input type="checkbox" checked={shown.has(id)} onChange={() => chosen.toggle(id)} />
                    <span>{title}</span>
                  </label>
                </li>
              ))}
            </ul>
            <button class="b" type="button" disabled={!chosen.isChanged} onClick={chosen.reset}>
              Usual columns
            </button>
          </div>
        </Popover>
      )}
    </>
  );
}
