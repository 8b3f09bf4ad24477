import { useSyncExternalStore } from 'preact/compat';

/** Takes a change back. */
type Undo = () => void | Promise<void>;

/** What was changed, and how to take it back. */
interface Toast {
  readonly id: number;
  readonly text: string;
  readonly undo: Undo | undefined;
}

/** How long a toast stays, milliseconds. */
const SHOWN_MS = 8_000;

let toasts: readonly Toast[] = [];
let lastId = 0;
const listeners = new Set<() => void>();

function set(next: readonly Toast[]): void {
  toasts = next;
  for (const listener of listeners) listener();
}

/** Says what an action changed. Errors stand where they occurred, never only here. */
export function toast(text: string, undo?: Undo): void {
  const id = ++lastId;
  set([...toasts, { id, text, undo }]);
  setTimeout(remove, SHOWN_MS, id);
}

function remove(id: number): void {
  set(toasts.filter((shown) => shown.id !== id));
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** The view of the change may be gone by now, so a refusal is said here. */
async function takeBack(undo: Undo): Promise<void> {
  try {
    await undo();
  } catch (error) {
    toast(`It was not undone. ${error instanceof Error ? error.message : ''}`);
  }
}

export function Toasts() {
  const shown = useSyncExternalStore(subscribe, () => toasts);
  return (
    <div class="toasts" role="status">
      {shown.map(({ id, text, undo }) => (
        <div class="toast" key={id}>
          <span>{text}</span>
          {undo !== undefined && (
            <button
              type="button"
              onClick={() => {
                remove(id);
                void takeBack(undo);
              }}
            >
              Undo
            </button>
          )}
        </div>
      ))}
    </div>
  );
}
