import type { Clock } from '../../kit/time/clock.ts';
import { UpstreamFailure } from '../../upstream/upstream.ts';
import type { PlannedGeneration } from '../record/generation-row.ts';

/** The last failed call of a provider. */
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

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  of(provider: string): LastFailure | undefined {
    return this.#failures.get(provider);
  }

  /** Notes the calls of an ended generation. */
  note({ attemptLog }: Pick<PlannedGeneration, 'attemptLog'>): void {
    for (const { candidate, status, failure } of attemptLog.calls) {
      // A BYOK credential says nothing about the gateway's own.
      if (candidate.access.kind !== 'shared') continue;
      const { slug } = candidate.endpoint.provider;
      if (status >= FIRST_FAILURE_STATUS) {
        const model = candidate.model.id;
        const errno = failure instanceof UpstreamFailure ? failure.errno : undefined;
        this.#failures.set(slug, { atMs: this.#clock.now(), model, status, errno, isOver: false });
      } else if (this.#failures.size > 0) this.#end(slug);
    }
  }

  #end(provider: string): void {
    const failure = this.#failures.get(provider);
    if (failure?.isOver === false) this.#failures.set(provider, { ...failure, isOver: true });
  }
}
