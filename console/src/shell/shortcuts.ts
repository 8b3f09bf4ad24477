import { useEffect } from 'preact/hooks';
import { go } from '../address/address.ts';
import { isTaken } from '../parts/keyboard.ts';
import { toggleTheme } from './theme.ts';
import { VIEWS } from './views.ts';

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
