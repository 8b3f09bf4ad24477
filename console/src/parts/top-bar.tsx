import type { ComponentChildren } from 'preact';

interface Props {
  readonly title: string;
  /** Beside the title, such as a count. */
  readonly detail?: ComponentChildren;
  /** Range, switches, and the one primary button. */
  readonly children?: ComponentChildren;
}

/** The bar on top of every view. */
export function TopBar({ title, detail, children }: Props) {
  return (
    <header class="top">
      <h1>{title}</h1>
      {detail !== undefined && <span class="t3 sm">{detail}</span>}
      <span class="push" />
      {children}
    </header>
  );
}
