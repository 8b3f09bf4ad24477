import { useSyncExternalStore } from 'preact/compat';

/** Where the console is: path, query and fragment. Filters, range and selection live here, so a link shows the same. */
export interface Address {
  readonly path: string;
  readonly query: URLSearchParams;
  /** Without `#`. */
  readonly fragment: string;
}

const listeners = new Set<() => void>();
let current = read();

function read(): Address {
  const { pathname, search, hash } = window.location;
  return { path: pathname, query: new URLSearchParams(search), fragment: decoded(hash.slice(1)) };
}

/** The text of a fragment; as it is if it cannot be decoded. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function changed(): void {
  current = read();
  for (const listener of listeners) listener();
}

window.addEventListener('popstate', changed);

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function useAddress(): Address {
  return useSyncExternalStore(subscribe, () => current);
}

/** Goes to an address of the console, such as `/log?model=openai/gpt-5`. */
export function go(address: string, { replace = false } = {}): void {
  window.history[replace ? 'replaceState' : 'pushState'](null, '', address);
  changed();
}

/** The address with some parameters of its query changed; null removes one. */
export function addressWith(
  { path, query, fragment }: Address,
  changes: Readonly<Record<string, string | null>>,
): string {
  const next = new URLSearchParams(query);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) next.delete(name);
    else next.set(name, value);
  }
  const search = next.toString();
  return `${path}${search === '' ? '' : `?${search}`}${fragment === '' ? '' : `#${fragment}`}`;
}
