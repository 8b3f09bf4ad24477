import { GatewayError } from '../../ir/errors.ts';
import type { Clock } from '../../kit/time/clock.ts';

/** Refused sign-ins in a window after which further ones are refused without a look at the key. */
const MAX_OF_ADDRESS = 20;
const MAX_OF_BEGINNING = 40;

/** Begins with the first refused sign-in. */
const WINDOW_MS = 60_000;

/** Windows that are remembered of each kind. What does not fit shares one. */
const MAX_WINDOWS = 10_000;
const OTHERS = '';

interface Window {
  readonly endsMs: number;
  refused: number;
}

export interface SignIn {
  readonly address: string;
  readonly beginning: string;
}

/** Limits how many keys can be tried at the sign-in, by address and by the beginning of the key. */
export class SignInAttempts {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #byAddress = new Map<string, Window>();
  readonly #byBeginning = new Map<string, Window>();

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  /** Throws 429 if too many keys were refused in this minute. */
  require({ address, beginning }: SignIn): void {
    const now = this.#clock.monotonic();
    const waitMs = Math.max(
      waitOf(this.#byAddress, address, MAX_OF_ADDRESS, now),
      waitOf(this.#byBeginning, beginning, MAX_OF_BEGINNING, now),
    );
    if (waitMs <= 0) return;
    const seconds = Math.ceil(waitMs / 1_000);
    throw new GatewayError(
      'rate-limited',
      `Too many sign-ins with keys that are not valid. Try again in ${seconds} s; requests with keys are served.`,
      { retryAfterSeconds: seconds },
    );
  }

  refused({ address, beginning }: SignIn): void {
    const now = this.#clock.monotonic();
    count(this.#byAddress, address, now);
    count(this.#byBeginning, beginning, now);
  }
}

/** Milliseconds until a sign-in is possible; not above 0 = now. */
function waitOf(windows: ReadonlyMap<string, Window>, name: string, max: number, now: number): number {
  const window = windows.get(name) ?? (windows.size >= MAX_WINDOWS ? windows.get(OTHERS) : undefined);
  return window === undefined || window.refused < max ? 0 : window.endsMs - now;
}

function count(windows: Map<string, Window>, name: string, now: number): void {
  if (windows.size >= MAX_WINDOWS && !windows.has(name)) {
    for (const [old, { endsMs }] of windows) if (endsMs <= now) windows.delete(old);
  }
  const counted = windows.size >= MAX_WINDOWS && !windows.has(name) ? OTHERS : name;
  const current = windows.get(counted);
  if (current === undefined || current.endsMs <= now) {
    windows.set(counted, { endsMs: now + WINDOW_MS, refused: 1 });
  } else current.refused += 1;
}
