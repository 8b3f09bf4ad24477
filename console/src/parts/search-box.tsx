import { useEffect, useRef, useState } from 'preact/hooks';
import { addressWith, go, useAddress } from '../address/address.ts';
import { Icon } from './icon.tsx';
import { useShortcut } from './keyboard.ts';

/** How long after the last key the search begins, milliseconds. */
const PAUSE_MS = 200;

/** The search of a view, kept in the address as `search`. The key / goes to it. */
export function SearchBox({ placeholder }: { readonly placeholder: string }) {
  const address = useAddress();
  const stored = address.query.get('search') ?? '';
  const input = useRef<HTMLInputElement>(null);
  const [text, setText] = useState(stored);
  useEffect(() => setText(stored), [stored]);
  useEffect(() => {
    if (text.trim() === stored) return;
    const timer = setTimeout(() => {
      go(addressWith(address, { search: text.trim() === '' ? null : text.trim() }), { replace: true });
    }, PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text, stored, address]);
  useShortcut('/', () => input.current?.focus());
  return (
    <span class="search">
      <Icon name="search" size={14} />
      <input
        ref={input}
        class="in-t"
        type="search"
        placeholder={placeholder}
        aria-label={`Find: ${placeholder}`}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
    </span>
  );
}
