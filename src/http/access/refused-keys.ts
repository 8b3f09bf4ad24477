import type { Clock } from '../../kit/time/clock.ts';
import type { HttpLog } from '../dependencies.ts';

/** Time in which an address is logged once. */
const WINDOW_MS = 60_000;

/** Addresses that are logged in a window; beyond them refusals are only counted. */
const MAX_ADDRESSES = 100;

/** Logs refused keys by address: one line an address and minute, so that a flood does not fill the log. */
export class RefusedKeys {
  readonly #clock: Clock;
  readonly #log: HttpLog;
  #logged = new Set<string>();
  #unlogged = 0;
  #windowEndsMs = 0;

  constructor(clock: Clock, log: HttpLog) {
    this.#clock = clock;
    this.#log = log;
  }

  /** `label`: what may be shown of the key; undefined if there was none. */
  note(client: string, requestId: string, operation: string, label: string | undefined): void {
    this.#renew();
    if (this.#logged.has(client) || this.#logged.size >= MAX_ADDRESSES) {
      this.#unlogged += 1;
      return;
    }
    this.#logged.add(client);
    this.#log.warn('a key was refused', { client, key: label, operation, request_id: requestId });
  }

  #renew(): void {
    const now = this.#clock.monotonic();
    if (now < this.#windowEndsMs) return;
    if (this.#unlogged > 0) {
      this.#log.warn('more keys were refused', { refused: this.#unlogged });
    }
    this.#windowEndsMs = now + WINDOW_MS;
    this.#logged = new Set();
    this.#unlogged = 0;
  }
}
