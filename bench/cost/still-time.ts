import { createRequire } from 'node:module';

type Callback = (...args: unknown[]) => void;

/**
 * Timers of at least this many milliseconds are held: flushes and polls of the background, and limits that a slow
 * machine would reach. Shorter ones are part of a request.
 */
const HELD_FROM_MS = 20;
/** Longer ones do not end within a measurement. */
const HELD_TO_MS = 120_000;
/** How far the still clock moves with each look at it. */
const STEP_MS = 0.01;
/** Held timers up to this many milliseconds are run by a flush: what gathers rows and events, not what expires. */
const FLUSHED_MS = 10_000;

/** Time that does not depend on the machine: for durations, deadlines, and timers of the background. */
export interface StillTime {
  /** How many timers the program has set so far. Node's own, such as those of sockets, are not counted. */
  readonly timers: number;
  still(): void;
  release(): void;
  flush(): void;
}

/** Puts a clock and timers in the place of the process's own. Call `syncBuiltinESMExports` afterwards. */
export function stillTime(): StillTime {
  let isStill = false;
  let passedMs = 0;
  let made = 0;
  const monotonic = performance.now.bind(performance);
  const wall = Date.now;
  let since = { monotonic: 0, wall: 0 };
  const stepped = () => {
    passedMs += STEP_MS;
    return passedMs;
  };
  performance.now = () => (isStill ? since.monotonic + stepped() : monotonic());
  Date.now = () => (isStill ? Math.floor(since.wall + stepped()) : wall());

  const require = createRequire(import.meta.url);
  const timers = require('node:timers');
  const promised = require('node:timers/promises');
  const { setTimeout: later, setInterval: often, clearTimeout: stop } = timers;
  const isHeld = (ms: number) => ms >= HELD_FROM_MS && ms <= HELD_TO_MS;
  /** Timers that were set and not cleared, in order. */
  const pending = new Map<object, { readonly ms: number; readonly run: () => void }>();
  /** A timer at whose end the clock is where the timer was to end: what looks at the clock then does not wait again. */
  const moving = (callback: Callback, ms: number, args: readonly unknown[]) => {
    const endMs = passedMs + ms;
    return later(() => {
      passedMs = Math.max(passedMs, endMs);
      callback(...args);
    }, ms);
  };
  const setTimeout = (callback: Callback, ms = 1, ...args: unknown[]) => {
    made += 1;
    if (!isHeld(ms)) return isStill ? moving(callback, ms, args) : later(callback, ms, ...args);
    const timer = later(() => {
      if (isStill) return;
      pending.delete(timer);
      callback(...args);
    }, ms);
    pending.set(timer, { ms, run: () => callback(...args) });
    return timer;
  };
  const clearTimeout = (timer: object) => {
    pending.delete(timer);
    stop(timer);
  };
  const setInterval = (callback: Callback, ms = 1, ...args: unknown[]) => {
    made += 1;
    return often(() => {
      if (!isStill) callback(...args);
    }, ms);
  };
  const replaced = { setTimeout, setInterval, clearTimeout, clearInterval: clearTimeout };
  Object.assign(globalThis, replaced);
  Object.assign(timers, replaced);
  const delay = promised.setTimeout;
  promised.setTimeout = (
    ms = 1,
    value?: unknown,
    options: { readonly signal?: AbortSignal; readonly ref?: boolean } = {},
  ) => {
    if (!isHeld(ms)) {
      made += 1;
      return delay(ms, value, options);
    }
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => resolve(value), ms);
      if (options.ref === false) timer.unref();
      options.signal?.addEventListener('abort', () => {
        clearTimeout(timer);
        reject(options.signal?.reason);
      });
    });
  };

  const flush = () => {
    for (const [timer, { ms, run }] of [...pending]) {
      if (ms > FLUSHED_MS) continue;
      clearTimeout(timer);
      run();
    }
  };
  return {
    get timers() {
      return made;
    },
    still() {
      since = { monotonic: monotonic(), wall: wall() };
      passedMs = 0;
      isStill = true;
    },
    release() {
      isStill = false;
      flush();
    },
    flush,
  };
}
