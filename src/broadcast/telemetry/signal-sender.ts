import { SharedTurn } from '../../kit/loop/turns.ts';
import type { Clock } from '../../kit/time/clock.ts';
import { FollowerRefuses, FollowerWaits } from '../../ports/following/follower.ts';
import { encodeParts, type OtlpFormat } from '../otlp/encode.ts';
import type { Messages } from '../otlp/messages.ts';
import type { Send } from '../writers/send.ts';

export interface TelemetryTarget {
  /** The address that the paths of signals are put behind. */
  readonly endpoint: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly protocol: OtlpFormat;
  readonly metricsEveryMs: number;
  readonly sendsLogs: boolean;
}

/** What becomes of a request: `waits` is to be sent again later, `refused` never will be taken. */
export type Sent = 'taken' | 'waits' | 'refused';

export interface SenderDependencies {
  readonly send: Send;
  /** Milliseconds until the next try. */
  readonly pauseMs: (failures: number, askedMs: number | undefined) => number;
  /** `now`: of what is sent; `monotonic`: of pauses, which a clock that is set must not make longer. */
  readonly clock: Pick<Clock, 'now' | 'monotonic'>;
  readonly log: {
    warn(message: string, fields: Readonly<Record<string, unknown>>): void;
    info(message: string, fields: Readonly<Record<string, unknown>>): void;
  };
}

/** Sends one signal. A receiver that does not take it is named in the log once, and once more when it does again. */
export class SignalSender<Name extends 'ExportMetricsServiceRequest' | 'ExportLogsServiceRequest'> {
  readonly #signal: 'metrics' | 'logs';
  readonly #message: Name;
  readonly #dependencies: SenderDependencies;
  #failures = 0;
  #notBeforeMs = 0;
  /** What the log was told of; undefined while all is well. */
  #problem: string | undefined;

  constructor(signal: 'metrics' | 'logs', message: Name, dependencies: SenderDependencies) {
    this.#signal = signal;
    this.#message = message;
    this.#dependencies = dependencies;
  }

  /** False after a failure, until it goes well again. */
  get isWell(): boolean {
    return this.#problem === undefined;
  }

  get isPaused(): boolean {
    return this.#dependencies.clock.monotonic() < this.#notBeforeMs;
  }

  /** Forgets pauses and problems: the receiver is another one. */
  reset(): void {
    this.#failures = 0;
    this.#notBeforeMs = 0;
    this.#problem = undefined;
  }

  /** Sends the parts in one request. Never rejects. */
  async send(
    { endpoint, headers, protocol }: TelemetryTarget,
    parts: Iterable<Messages[Name]>,
    signal: AbortSignal,
  ): Promise<Sent> {
    const url = `${endpoint.replace(/\/+$/, '')}/v1/${this.#signal}`;
    try {
      const encoding = encodeParts(this.#message, parts, protocol);
      const { body, contentType } = await new SharedTurn(signal).run(encoding);
      const sent = { ...headers, 'content-type': contentType };
      await this.#dependencies.send(url, { method: 'POST', headers: sent, body }, signal);
      this.#noteTaken(url);
      return 'taken';
    } catch (problem) {
      if (signal.aborted) return 'waits';
      return this.#noteProblem(url, problem);
    }
  }

  #noteTaken(url: string): void {
    this.#failures = 0;
    this.#notBeforeMs = 0;
    if (this.#problem === undefined) return;
    this.#problem = undefined;
    this.#dependencies.log.info(`the receiver of telemetry takes ${this.#signal} again`, {
      receiver: hostOf(url),
    });
  }

  #noteProblem(url: string, problem: unknown): Sent {
    const { pauseMs, clock, log } = this.#dependencies;
    const isRefused = problem instanceof FollowerRefuses;
    const askedMs = problem instanceof FollowerWaits ? problem.retryAfterMs : undefined;
    this.#failures++;
    this.#notBeforeMs = clock.monotonic() + pauseMs(this.#failures, askedMs);
    if (this.#problem === undefined) {
      this.#problem = problem instanceof Error ? problem.message : String(problem);
      const next = isRefused ? 'they are dropped' : 'they are kept within bounds and sent again';
      log.warn(`the receiver of telemetry does not take ${this.#signal}; ${next}`, {
        receiver: hostOf(url),
        problem: this.#problem,
        see: 'observability.otlp',
      });
    }
    return isRefused ? 'refused' : 'waits';
  }
}

/** Neither path nor query: they may hold secrets. */
function hostOf(url: string): string {
  return new URL(url).host;
}
