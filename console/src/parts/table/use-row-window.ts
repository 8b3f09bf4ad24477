import type { RefObject } from 'preact';
import { useCallback, useLayoutEffect, useState } from 'preact/hooks';

/** Rows that are drawn beyond the visible ones, above and below. */
const OVERSCAN = 12;

/** The part of a long list that is drawn; the rest is empty space of the same height. */
export interface RowWindow {
  readonly from: number;
  readonly to: number;
  readonly above: number;
  readonly below: number;
  readonly isAtTop: boolean;
  readonly scrollTo: (index: number) => void;
}

/** Rows of one height in an element that scrolls by itself. `headHeight`: what stands above the first row, pixels. */
export function useRowWindow(
  scroller: RefObject<HTMLElement>,
  count: number,
  rowHeight: number,
  headHeight: number,
): RowWindow {
  const [{ top, height }, setPlace] = useState({ top: 0, height: window.innerHeight });
  useLayoutEffect(() => {
    const element = scroller.current;
    if (element === null) return;
    const read = (): void => {
      // Redrawn only when another row comes into sight.
      const next = {
        top: Math.floor(element.scrollTop / rowHeight) * rowHeight,
        height: element.clientHeight,
      };
      setPlace((before) => (before.top === next.top && before.height === next.height ? before : next));
    };
    read();
    element.addEventListener('scroll', read, { passive: true });
    const sizes = new ResizeObserver(read);
    sizes.observe(element);
    return () => {
      element.removeEventListener('scroll', read);
      sizes.disconnect();
    };
  }, [scroller, rowHeight]);
  const from = Math.min(count, Math.max(0, Math.floor((top - headHeight) / rowHeight) - OVERSCAN));
  const to = Math.min(count, Math.ceil((top + height) / rowHeight) + OVERSCAN);
  const scrollTo = useCallback(
    (index: number): void => {
      const element = scroller.current;
      if (element === null) return;
      const rowTop = headHeight + index * rowHeight;
      const visibleTop = element.scrollTop + rowHeight;
      const visibleBottom = element.scrollTop + element.clientHeight - rowHeight;
      if (rowTop < visibleTop) element.scrollTop = rowTop - 2 * rowHeight;
      else if (rowTop + rowHeight > visibleBottom) {
        element.scrollTop = rowTop + 2 * rowHeight - element.clientHeight;
      }
    },
    [scroller, rowHeight, headHeight],
  );
  return {
    from,
    to,
    above: from * rowHeight,
    below: (count - to) * rowHeight,
    isAtTop: top === 0,
    scrollTo,
  };
}
