import { observeWindowOffset, observeWindowRect, Virtualizer, windowScroll } from '@tanstack/virtual-core';
import type { RefObject } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';

/** Rows that are drawn beyond the visible ones, above and below. */
const OVERSCAN = 12;

/** The part of a long list that is drawn; the rest is empty space of the same height. */
export interface VirtualRows {
  /** Index of the first row that is drawn, and the one after the last. */
  readonly from: number;
  readonly to: number;
  /** Height of what is left out, pixels. */
  readonly above: number;
  readonly below: number;
  readonly scrollTo: (index: number) => void;
}

/** Rows of one height in a page that scrolls as a whole. `body` holds them. */
export function useVirtualRows(body: RefObject<HTMLElement>, count: number, rowHeight: number): VirtualRows {
  const [, redraw] = useState(0);
  const margin = useRef(0);
  const options = {
    count,
    estimateSize: () => rowHeight,
    overscan: OVERSCAN,
    scrollMargin: margin.current,
    // The sticky bars on top hide the first rows of the window.
    scrollPaddingStart: 96,
    getScrollElement: () => window,
    observeElementRect: observeWindowRect,
    observeElementOffset: observeWindowOffset,
    scrollToFn: windowScroll,
    onChange: () => redraw((before) => before + 1),
  };
  const [virtualizer] = useState(() => new Virtualizer<Window, Element>(options));
  virtualizer.setOptions(options);
  useEffect(() => virtualizer._didMount(), [virtualizer]);
  useLayoutEffect(() => {
    const top = body.current?.getBoundingClientRect().top;
    if (top !== undefined) {
      const next = Math.round(top + window.scrollY);
      if (next !== margin.current) {
        margin.current = next;
        redraw((before) => before + 1);
      }
    }
    virtualizer._willUpdate();
  });
  useLayoutEffect(() => virtualizer.measure(), [virtualizer, rowHeight]);
  const items = virtualizer.getVirtualItems();
  const from = items[0]?.index ?? 0;
  const to = (items.at(-1)?.index ?? -1) + 1;
  return {
    from,
    to,
    above: from * rowHeight,
    below: (count - to) * rowHeight,
    scrollTo: (index) => virtualizer.scrollToIndex(index, { align: 'auto' }),
  };
}
