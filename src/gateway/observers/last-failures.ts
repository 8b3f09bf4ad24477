import type { Clock } from '../../kit/time/clock.ts';
import { UpstreamFailure } from '../../upstream/upstream.ts';
import type { PlannedGeneration } from '../record/generation-row.ts';

export interface LastFailure {
  readonly atMs: number;
  readonly model: string;
  /** Status of the response; without one, the status that the caller gets. */
  readonly status: number;
  /** Error code of the system or of TLS if the connection failed. */
  readonly errno?: string | undefined;
  /** True if a later call succeeded. */
  readonly isOver: boolean;
}

const FIRST_FAILURE_STATUS = 400;

/** Remembers the last failed call of each provider, with the gateway's own credential, for `doctor`. */
export class LastFailures {
  readonly #clock: Clock;
  readonly #failures = new Map<string, LastFailure>();
  #onChange: ((provider: string, failure: LastFailure) => void) | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Calls the listener with each change that `note` makes. */
  watch(listener: (provider: string, failure: LastFailure) => void): void {
    this.#onChange = listener;
  }

  /** Takes over a change that another process has noted. */
  take(provider: string, failure: LastFailure): void {
    this.#failures.set(provider, failure);
  }

  of(provider: string): LastFailure | undefined {
    return this.#failures.get(provider);
  }

  note({ attemptLog }: Pick<PlannedGeneration, 'attemptLog'>): void {
    for (const { candidate, status, failure } of attemptLog.calls) {
      // A BYOK credential says nothing about the gateway's own.
      if (candidate.access.kind !== 'shared') continue;
      const { slug } = candidate.endpoint.provider;
      if (status >= FIRST_FAILURE_STATUS) {
        const model = candidate.model.id;
        const errno = failure instanceof UpstreamFailure ? failure.errno : undefined;
        this.#set(slug, { atMs: this.#clock.now(), model, status, errno, isOver: false });
      } else if (this.#failures.size > 0) this.#end(slug);
    }
  }

  #end(provider: string): void {
    const failure = this.#failures.get(provider);
    if (failure?.isOver === false) this.#set(provider, { ...failure, isOver: true });
  }

  #set(provider: string, failure: LastFailure): void {
    this.#failures.set(provider, failure);
    this.#onChange?.(provider, failure);
  }
}
