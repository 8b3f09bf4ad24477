import type { Timing } from '../gateway/generation.ts';
import type { Clock } from '../kit/ids.ts';

type Phase = Parameters<Timing['mark']>[0];

/** Collects what `Server-Timing` says: milliseconds per phase, and in `gateway` all that was not the upstream. */
export class ServerTiming implements Timing {
  readonly #clock: Clock;
  readonly #started: number;
  readonly #phases: Record<Phase, number> = { auth: 0, plan: 0, upstream: 0 };
  #told: Readonly<Record<string, number>> = {};

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#started = clock.monotonic();
  }

  /** Phases that come more than once add up. */
  mark(phase: Phase, milliseconds: number): void {
    this.#phases[phase] += milliseconds;
  }

  /** Milliseconds since the request was accepted. */
  elapsed(): number {
    return this.#clock.monotonic() - this.#started;
  }

  /** Milliseconds of each phase as the header had them; none before there was one. */
  get told(): Readonly<Record<string, number>> {
    return this.#told;
  }

  /** The header's value, as of now. */
  header(): string {
    const { auth, plan, upstream } = this.#phases;
    this.#told = { auth, plan, upstream, gateway: Math.max(0, this.elapsed() - upstream) };
    return Object.entries(this.#told)
      .map(([phase, milliseconds]) => `${phase};dur=${milliseconds.toFixed(2)}`)
      .join(', ');
  }
}
