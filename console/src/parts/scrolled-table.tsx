import type { ComponentChildren } from 'preact';

interface Props {
  /** Names the region for screen readers. */
  readonly label: string;
  readonly class?: string;
  readonly children: ComponentChildren;
}

/** A table that may be wider than the page. The keyboard reaches it, and scrolls it. */
export function ScrolledTable({ label, class: name, children }: Props) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must take the focus to be scrolled by keys
    <section class={name === undefined ? 'tw' : `tw ${name}`} aria-label={label} tabIndex={0}>
      {children}
    </section>
  );
}
