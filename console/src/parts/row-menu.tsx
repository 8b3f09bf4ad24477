import { useRef, useState } from 'preact/hooks';
import { go } from '../address/address.ts';
import { Icon } from './icon.tsx';
import { Popover } from './popover.tsx';

/** One action of a row: something that is done, or an address of the console. */
export interface RowAction {
  readonly title: string;
  readonly run: (() => void) | string;
}

/** The actions of a row behind three dots. `of` names the row for screen readers. */
export function RowMenu({ of, actions }: { readonly of: string; readonly actions: readonly RowAction[] }) {
  const button = useRef<HTMLButtonElement>(null);
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button
        ref={button}
        class="b quiet ico"
        type="button"
        aria-label={`Actions for ${of}`}
        aria-haspopup="dialog"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        <Icon name="more" size={14} />
      </button>
      {isOpen && (
        <Popover anchor={button} label={`Actions for ${of}`} onClose={() => setOpen(false)} class="menu">
          {actions.map(({ title, run }) => (
            <button
              key={title}
              type="button"
              onClick={() => {
                setOpen(false);
                if (typeof run === 'string') go(run);
                else run();
              }}
            >
              {title}
            </button>
          ))}
        </Popover>
      )}
    </>
  );
}
