import { useSyncExternalStore } from 'preact/compat';

/** When the gateway was first found not to answer, milliseconds since 1970; null = the last request was answered. */
let lostAtMs: number | null = null;
const listeners = new Set<() => void>();

/** Remembers whether the last request was answered, with whatever status. */
export function noteAnswer(isAnswered: boolean): void {
  const next = isAnswered ? null : (lostAtMs ?? Date.now());
  if (next === lostAtMs) return;
  lostAtMs = next;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Since when the gateway does not answer, milliseconds since 1970; null = it does. */
export function useLostSince(): number | null {
  return useSyncExternalStore(subscribe, () => lostAtMs);
}
