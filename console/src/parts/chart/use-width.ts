import type { RefObject } from 'preact';
import { useLayoutEffect, useState } from 'preact/hooks';

/** The width of an element in pixels, kept up to date; null until it is drawn. */
export function useWidth(element: RefObject<HTMLElement>): number | null {
  const [width, setWidth] = useState<number | null>(null);
  useLayoutEffect(() => {
    const { current } = element;
    if (current === null) return;
    const read = (): void => setWidth(current.clientWidth);
    read();
    const sizes = new ResizeObserver(read);
    sizes.observe(current);
    return () => sizes.disconnect();
  }, [element]);
  return width;
}
