import type { Timing } from '../../gateway/request/generation-input.ts';
import type { Clock } from '../../kit/time/clock.ts';

type Phase = Parameters<Timing['mark']>[0];

/** Milliseconds of each phase, as `Server-Timing` has them. */
export type PhaseTimes = Readonly<Record<Phase | 'upstream' | 'gateway', number>>;

/**
 * Collects what `Server-Timing` says: milliseconds per phase, in `upstream` until its first byte, and in `gateway` all
 * that was spent on waiting neither for the upstream nor for the caller's body.
 */
export class ServerTiming implements Timing {
  readonly #clock: Clock;
  readonly #started: number;
  readonly #phases: Record<Phase | 'upstream', number> = { auth: 0, plan: 0, upstream: 0 };
  /** Since when the upstream is waited for; undefined while it is not. */
  #awaitedSince: number | undefined;
  /** How long others were waited for. */
  #waitedMs = 0;
  #sent: PhaseTimes | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#started = clock.monotonic();
  }

  /** Phases that come more than once add up. */
  mark(phase: Phase, milliseconds: number): void {
    this.#phases[phase] += milliseconds;
  }

  awaitUpstream(): void {
    this.#awaitedSince = this.#clock.monotonic();
  }

  answered(firstByteMs: number, waitedMs: number): void {
    this.#awaitedSince = undefined;
    this.#phases.upstream += firstByteMs;
    this.#waitedMs += waitedMs;
  }

  /** Waits for the rest of the body: that time does not count as the gateway's. */
  async waitForBody<T>(rest: Promise<T>): Promise<T> {
    const since = this.#clock.monotonic();
    try {
      return await rest;
    } finally {
      this.#waitedMs += this.#clock.monotonic() - since;
    }
  }

  elapsed(): number {
    return this.#clock.monotonic() - this.#started;
  }

  /** Milliseconds of each phase as the header had them; undefined before there was one. */
  get sent(): PhaseTimes | undefined {
    return this.#sent;
  }

  header(): string {
    const { auth, plan } = this.#phases;
    const now = this.#clock.monotonic();
    // The head of a stream may go out before anything has come.
    const awaiting = now - (this.#awaitedSince ?? now);
    const upstream = this.#phases.upstream + awaiting;
    const gateway = Math.max(0, now - this.#started - this.#waitedMs - awaiting);
    this.#sent = { auth, plan, upstream, gateway };
    return (
      `auth;dur=${hundredths(auth)}, plan;dur=${hundredths(plan)}, upstream;dur=${hundredths(upstream)}, ` +
      `gateway;dur=${hundredths(gateway)}`
    );
  }
}

const FRACTIONS: readonly string[] = Array.from({ length: 100 }, (_, part) =>
  (part / 100).toFixed(2).slice(1),
);

/** Writes the same text as `toFixed(2)`, in a quarter of the time. */
function hundredths(milliseconds: number): string {
  const all = Math.round(milliseconds * 100);
  const whole = Math.floor(all / 100);
  return `${whole}${FRACTIONS[all - whole * 100]}`;
}
