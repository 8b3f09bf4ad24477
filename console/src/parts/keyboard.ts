import { useEffect, useRef } from 'preact/hooks';

/** Whether keys belong to a field, where single letters are text, or to what lies over the view. */
export function isTaken({ target }: KeyboardEvent): boolean {
  const takers = 'input, textarea, select, [contenteditable], dialog, [popover]';
  return (
    (target instanceof HTMLElement && target.closest(takers) !== null) ||
    document.querySelector(':modal') !== null
  );
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
