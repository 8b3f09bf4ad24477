import type { ComponentChildren, JSX } from 'preact';
import { go } from './address.ts';

type Props = Omit<JSX.HTMLAttributes<HTMLAnchorElement>, 'href'> & {
  readonly href: string;
  readonly children: ComponentChildren;
};

/** A link inside the console: followed without loading the page again, unless it is opened elsewhere. */
export function Link({ href, onClick, ...rest }: Props) {
  const follow = (event: JSX.TargetedMouseEvent<HTMLAnchorElement>): void => {
    onClick?.(event);
    const isPlain =
      event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
    if (event.defaultPrevented || !isPlain) return;
    event.preventDefault();
    go(href);
  };
  return <a {...rest} href={href} onClick={follow} />;
}
