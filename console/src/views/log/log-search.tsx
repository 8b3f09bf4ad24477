import { useEffect, useRef, useState } from 'preact/hooks';
import { addressWith, go, useAddress } from '../../address/address.ts';
import { Icon } from '../../parts/icon.tsx';
import { useShortcut } from '../../parts/keyboard.ts';

/** A whole id of a generation: it is opened at once, whatever the range. */
const WHOLE_ID = /^gen-\d+-\w{20}$/;

/** Searches ids; Enter searches. */
export function LogSearch() {
  const address = useAddress();
  const input = useRef<HTMLInputElement>(null);
  const searched = address.query.get('search') ?? '';
  const [text, setText] = useState(searched);
  useEffect(() => setText(searched), [searched]);
  useShortcut('/', () => input.current?.focus());
  const submit = (event: Event): void => {
    event.preventDefault();
    const wanted = text.trim();
    if (WHOLE_ID.test(wanted)) go(addressWith({ ...address, fragment: wanted }, {}));
    else go(addressWith({ ...address, fragment: '' }, { search: wanted === '' ? null : wanted }));
  };
  return (
    <form class="search" onSubmit={submit}>
      <Icon name="search" size={14} />
      <input
        ref={input}
        class="in-t"
        type="search"
        aria-label="Find"
        placeholder="Generation, request, session, trace…"
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
    </form>
  );
}
