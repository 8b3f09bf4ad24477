type AbortListener = Parameters<AbortSignal['addEventListener']>[1];

/**
 * Stops work as an AbortController does. Every request has some of them and hardly any is ever used: making and
 * hearing one of Node's costs some ten microseconds, this next to nothing. Not for `AbortSignal.any` and `fetch`,
 * which ask for Node's own.
 */
export class LightAbortController implements AbortController {
  readonly #signal = new LightAbortSignal();

  get signal(): AbortSignal {
    return this.#signal;
  }

  /** Only the first reason counts. */
  abort(reason: unknown = new DOMException('This operation was aborted', 'AbortError')): void {
    this.#signal.tell(reason);
  }
}

class LightAbortSignal implements AbortSignal {
  aborted = false;
  reason: unknown;
  readonly onabort = null;
  /** Each listens once: there is one abort. */
  #listeners: AbortListener[] | undefined;

  throwIfAborted(): void {
    if (this.aborted) throw this.reason;
  }

  addEventListener(type: string, listener: AbortListener): void {
    if (type !== 'abort') return;
    if (this.#listeners === undefined) this.#listeners = [listener];
    else if (!this.#listeners.includes(listener)) this.#listeners.push(listener);
  }

  removeEventListener(_type: string, listener: AbortListener): void {
    const listeners = this.#listeners;
    const place = listeners?.indexOf(listener) ?? -1;
    if (listeners === undefined || place === -1) return;
    // The last one is taken off without making a list of what was taken, as `splice` does: mostly it is the only one.
    if (place === listeners.length - 1) listeners.pop();
    else listeners.splice(place, 1);
  }

  dispatchEvent(event: Event): boolean {
    const listeners = this.#listeners ?? [];
    this.#listeners = undefined;
    for (const listener of listeners) {
      try {
        if (typeof listener === 'function') listener(event);
        else listener.handleEvent(event);
      } catch (error) {
        // All listeners are called; what one of them throws must not stop the others.
        process.nextTick(() => {
          throw error;
        });
      }
    }
    return true;
  }

  tell(reason: unknown): void {
    if (this.aborted) return;
    this.aborted = true;
    this.reason = reason;
    this.dispatchEvent(new Event('abort'));
  }
}
