import type { RefObject } from 'preact';
import { useLayoutEffect, useState } from 'preact/hooks';

/**
 * How many columns of a table are shown, of `all`: a narrow list hides some of them. A cell that spans more would make
 * columns of its own.
 */
export function useShownColumns(table: RefObject<HTMLTableElement>, all: number): number {
  const [count, setCount] = useState(all);
  useLayoutEffect(() => {
    const element = table.current;
    if (element === null) return undefined;
    const heads = [...(element.tHead?.rows[0]?.cells ?? [])];
    const read = () => setCount(heads.filter((head) => head.getClientRects().length > 0).length);
    read();
    const sizes = new ResizeObserver(read);
    sizes.observe(element);
    return () => sizes.disconnect();
  }, [table]);
  return count;
}
