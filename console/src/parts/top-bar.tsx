import type { ComponentChildren } from 'preact';

interface Props {
  readonly title: string;
  /** Beside the title, such as a count; phones have no room for it. */
  readonly detail?: ComponentChildren;
  /** Range, switches, and the one primary button. */
  readonly children?: ComponentChildren;
}

/** The bar on top of every view. */
export function TopBar({ title, detail, children }: Props) {
  return (
    <header class="top">
      <h1>{title}</h1>
      {detail !== undefined && <span class="t3 sm cut wide">{detail}</span>}
      <span class="push" />
      {children}
    </header>
  );
}
