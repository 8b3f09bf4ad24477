import { RecentMap } from '../../kit/collections/recent-map.ts';
import type { Clock } from '../../kit/time/clock.ts';
import type { Pin } from '../../ports/shared/routing-memory.ts';

export interface PinDependencies {
  readonly clock: Clock;
  /** How long a pin lasts after its last success, milliseconds. */
  readonly idleMs: () => number;
  /** Size of the cache, about 350 bytes a conversation; the least recently used is evicted. */
  readonly max?: number;
  /** Pins of other processes; absent = there are none. */
  readonly shared?: SharedPins | undefined;
}

/** The pins that processes share. No method throws or rejects: a process can do without. */
export interface SharedPins {
  /** Undefined also if the store does not answer in time. */
  find(key: string): Promise<Pin | undefined>;
  set(key: string, pin: Pin, idleMs: number): void;
  /** The copies that other processes have are out of date. */
  moved(key: string): void;
}

interface OwnPin extends Pin {
  /** When it ends, by the monotonic clock. */
  readonly untilMs: number;
  /** When the shared pin was set last, by the monotonic clock. */
  readonly sharedAtMs: number;
}

const MAX_PINS = 100_000;

/** A renewed pin is written to the store only after this share of its idle time: most renewals cost no write. */
const RENEW_SHARE = 0.05;

/** Pins by conversation key: they keep conversations where their prompts are cached. Memory is bounded. */
export class Pins {
  readonly #clock: Clock;
  readonly #idleMs: () => number;
  readonly #shared: SharedPins | undefined;
  readonly #pins: RecentMap<string, OwnPin>;

  constructor({ clock, idleMs, max = MAX_PINS, shared }: PinDependencies) {
    this.#clock = clock;
    this.#idleMs = idleMs;
    this.#shared = shared;
    this.#pins = new RecentMap(max);
  }

  /** If true, callers need not compute a key. */
  get isEmpty(): boolean {
    return this.#pins.size === 0;
  }

  /** True if `fetch` may find pins that this process does not have. */
  get isShared(): boolean {
    return this.#shared !== undefined;
  }

  /** Does not extend the pin. */
  find(key: string): Pin | undefined {
    return this.#find(key);
  }

  #find(key: string): OwnPin | undefined {
    const pin = this.#pins.get(key);
    if (pin === undefined || pin.untilMs >= this.#clock.monotonic()) return pin;
    this.#pins.delete(key);
    return undefined;
  }

  /** Gets a pin that another process has set, unless this one has it. */
  async fetch(key: string): Promise<void> {
    if (this.#shared === undefined || this.#find(key) !== undefined) return;
    const pin = await this.#shared.find(key);
    if (pin !== undefined && this.#find(key) === undefined) this.#set(key, pin, this.#clock.monotonic());
  }

  /** Sets or renews a pin after a success. */
  pin(key: string, pin: Pin): void {
    const before = this.#shared && this.#find(key);
    const nowMs = this.#clock.monotonic();
    const isMoved = before?.site !== pin.site || before.modelId !== pin.modelId;
    const isDue = isMoved || nowMs >= before.sharedAtMs + RENEW_SHARE * this.#idleMs();
    this.#set(key, pin, isDue ? nowMs : before.sharedAtMs);
    if (isDue) this.#shared?.set(key, pin, this.#idleMs());
    if (isMoved && before !== undefined) this.#shared?.moved(key);
  }

  /** Drops a copy that is out of date. */
  forget(key: string): void {
    this.#pins.delete(key);
  }

  #set(key: string, { site, modelId }: Pin, sharedAtMs: number): void {
    const untilMs = this.#clock.monotonic() + this.#idleMs();
    this.#pins.set(key, { site, modelId, sharedAtMs, untilMs });
  }
}
