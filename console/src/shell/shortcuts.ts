import { useEffect, useRef } from 'preact/hooks';
import { go } from '../address/address.ts';
import { VIEWS } from '../views/views.ts';
import { toggleTheme } from './theme.ts';

/** Whether keys belong to a field, where single letters are text, or to what lies over the view. */
function isTaken({ target }: KeyboardEvent): boolean {
  const takers = 'input, textarea, select, [contenteditable], dialog, [popover]';
  return (
    (target instanceof HTMLElement && target.closest(takers) !== null) ||
    document.querySelector(':modal') !== null
  );
}

/** How long after G the letter of a view may come, milliseconds. */
const AFTER_G_MS = 1_500;

/** Shortcuts that hold in every view: G and a letter opens a view, shift and T changes the theme. */
export function useGlobalShortcuts(openPalette: () => void, openHelp: () => void): void {
  useEffect(() => {
    let pressedGAt = Number.NEGATIVE_INFINITY;
    const onKey = (event: KeyboardEvent): void => {
      if ((event.metaKey || event.ctrlKey) && event.key.toLowerCase() === 'k') {
        event.preventDefault();
        openPalette();
        return;
      }
      if (isTaken(event) || event.metaKey || event.ctrlKey || event.altKey) return;
      if (event.key === 'T') toggleTheme();
      if (event.key === '?') openHelp();
      if (event.timeStamp - pressedGAt < AFTER_G_MS) {
        const view = VIEWS.find(({ shortcut }) => shortcut === event.key);
        if (view !== undefined) go(view.path);
      }
      pressedGAt = event.key === 'g' ? event.timeStamp : Number.NEGATIVE_INFINITY;
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, [openPalette, openHelp]);
}

/** Runs an action of the view when its key is pressed outside of fields, dialogs and popovers. */
export function useShortcut(key: string, action: () => void): void {
  // Always the action of the last drawing: listeners are renewed later than that, and fast keys would meet an old one.
  const latest = useRef(action);
  latest.current = action;
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.key !== key || isTaken(event) || event.metaKey || event.ctrlKey || event.altKey) return;
      event.preventDefault();
      latest.current();
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, [key]);
}
