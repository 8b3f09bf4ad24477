import type { ComponentChildren, RefObject } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';

interface Props {
  /** What it belongs to: it opens below, and the focus returns to it. */
  readonly anchor: RefObject<HTMLElement>;
  readonly label: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
  readonly class?: string;
}

/** Distance to the anchor and to the edges of the window, pixels. */
const GAP = 4;
const MARGIN = 8;

const FOCUSABLE = ':is(input, button, a[href]):not(:disabled)';

/** Fields that need the arrows themselves, to change their value. */
const NEEDS_ARROWS = 'select, textarea, input:is([type="date"], [type="datetime-local"], [type="number"])';

/** A panel over the page. Mount it to open it; Arrows go through it, Escape and a click elsewhere call `onClose`. */
export function Popover({ anchor, label, onClose, children, class: name = '' }: Props) {
  const element = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const panel = element.current;
    if (panel === null) return;
    panel.showPopover();
    place(panel, anchor.current);
    const opener = anchor.current;
    (
      panel.querySelector<HTMLElement>('[data-first]') ?? panel.querySelector<HTMLElement>(FOCUSABLE)
    )?.focus();
    return () => opener?.focus({ preventScroll: true });
  }, [anchor]);
  useEffect(() => {
    // The anchor's own click closes it: were it closed here too, that click would open it again.
    const onPress = ({ target }: PointerEvent): void => {
      const isInside = [element.current, anchor.current].some((each) => each?.contains(target as Node));
      if (!isInside) onClose();
    };
    document.addEventListener('pointerdown', onPress);
    return () => document.removeEventListener('pointerdown', onPress);
  }, [anchor, onClose]);
  return (
    <div
      ref={element}
      class={`pop over ${name}`}
      popover="manual"
      role="dialog"
      aria-label={label}
      onKeyDown={(event) => {
        if (event.key === 'Escape') {
          // A dialog below stays open.
          event.preventDefault();
          event.stopPropagation();
          onClose();
        } else if (!event.defaultPrevented) stepThrough(event.currentTarget, event);
      }}
    >
      {children}
    </div>
  );
}

/** Moves the focus to the next or previous field or button, and round at the ends. */
function stepThrough(panel: HTMLElement, event: KeyboardEvent): void {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step === undefined || (event.target as Element).matches(NEEDS_ARROWS)) return;
  event.preventDefault();
  const all = [...panel.querySelectorAll<HTMLElement>(FOCUSABLE)];
  const from = all.indexOf(event.target as HTMLElement);
  all[(from + step + all.length) % all.length]?.focus();
}

/** Puts the panel below its anchor, within the window. Through the CSSOM: the policy refuses style attributes. */
function place(panel: HTMLElement, anchor: HTMLElement | null): void {
  const { left, bottom, top } = anchor?.getBoundingClientRect() ?? { left: 0, bottom: 0, top: 0 };
  const { width, height } = panel.getBoundingClientRect();
  const isBelow = bottom + GAP + height <= window.innerHeight - MARGIN || top < height;
  const x = Math.max(MARGIN, Math.min(left, window.innerWidth - width - MARGIN));
  const y = isBelow ? bottom + GAP : top - GAP - height;
  panel.style.left = `${x}px`;
  panel.style.top = `${Math.max(MARGIN, y)}px`;
}
