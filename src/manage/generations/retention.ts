import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../../kit/log/log.ts';
import type { Clock } from '../../kit/time/clock.ts';
import type { ContentStore } from '../../ports/content/content.ts';
import type { EventStore } from '../../ports/events/events.ts';
import type { GenerationStore } from '../../ports/generations/generations.ts';
import type { RefusedRequests } from '../../ports/generations/refused-requests.ts';
import type { CallCountStore } from '../../ports/upstreams/call-counts.ts';
import { hourOf } from '../models/hourly-totals.ts';
import { KEPT_HOURS } from '../models/uptime-history.ts';

export interface RetentionSettings {
  /** Rows of generations, and events. */
  readonly eventsDays: number;
  readonly contentDays: number;
  readonly contentBytes: number;
}

export interface RetentionDependencies {
  readonly settings: () => RetentionSettings;
  readonly generations: Pick<GenerationStore, 'prune'>;
  readonly refused: Pick<RefusedRequests, 'prune'>;
  readonly events: Pick<EventStore, 'prune'>;
  readonly callCounts: Pick<CallCountStore, 'pruneOldest'>;
  readonly contents: Pick<ContentStore, 'prune'>;
  readonly clock: Clock;
  readonly log: Pick<Log, 'warn'>;
  /** Pause between rounds, milliseconds. */
  readonly everyMs?: number;
}

const DAY_MS = 86_400_000;
const ROUND_PAUSE_MS = 5 * 60_000;

/** Rows per delete: small, so that requests do not wait for the database. */
const ROWS_PER_DELETE = 200;
const PAUSE_MS = 20;

export function keptMs(days: number): number {
  return days * DAY_MS;
}

/**
 * Deletes expired rows, events, counts of calls and content, at the start and every five minutes. A failed step is
 * retried next round.
 */
export class Retention {
  readonly #dependencies: RetentionDependencies;
  readonly #stopping = new AbortController();
  readonly #rounds: Promise<void>;
  #eventsDueAtMs = 0;

  constructor(dependencies: RetentionDependencies) {
    this.#dependencies = dependencies;
    this.#rounds = this.#run();
  }

  /** Resolves when the current round has ended. */
  async close(): Promise<void> {
    this.#stopping.abort();
    await this.#rounds;
  }

  async #run(): Promise<void> {
    const { everyMs = ROUND_PAUSE_MS } = this.#dependencies;
    while (!this.#stopping.signal.aborted) {
      const { generations, refused } = this.#dependencies;
      await this.#attempt('rows of generations', () => this.#pruneRows(generations));
      await this.#attempt('rows of refused requests', () => this.#pruneRows(refused));
      await this.#attempt('events', () => this.#pruneEvents());
      await this.#attempt('calls of endpoints', () => this.#pruneCallCounts());
      await this.#attempt('content of generations', () => this.#pruneContents());
      await this.#pause(everyMs);
    }
  }

  async #pruneRows(rows: RetentionDependencies['generations']): Promise<void> {
    const { settings, clock } = this.#dependencies;
    const beforeMs = clock.now() - keptMs(settings().eventsDays);
    while (
      !this.#stopping.signal.aborted &&
      (await rows.prune(beforeMs, ROWS_PER_DELETE)) === ROWS_PER_DELETE
    ) {
      await this.#pause(PAUSE_MS);
    }
  }

  /** Events expire by whole days, so once a day is enough. */
  async #pruneEvents(): Promise<void> {
    const { settings, clock, events } = this.#dependencies;
    const nowMs = clock.now();
    if (nowMs < this.#eventsDueAtMs) return;
    await events.prune(nowMs - keptMs(settings().eventsDays));
    this.#eventsDueAtMs = nowMs + DAY_MS;
  }

  async #pruneCallCounts(): Promise<void> {
    const { clock, callCounts } = this.#dependencies;
    const beforeHour = hourOf(clock.now()) - KEPT_HOURS;
    while (!this.#stopping.signal.aborted && (await callCounts.pruneOldest(beforeHour)) > 0) {
      await this.#pause(PAUSE_MS);
    }
  }

  async #pruneContents(): Promise<void> {
    const { settings, clock, contents } = this.#dependencies;
    const { contentDays, contentBytes } = settings();
    await contents.prune({ beforeMs: clock.now() - keptMs(contentDays), maxBytes: contentBytes });
  }

  async #attempt(what: string, prune: () => Promise<void>): Promise<void> {
    try {
      await prune();
    } catch (error) {
      this.#dependencies.log.warn(
        `${what} that are due could not be removed; they will be in the next round`,
        { reason: reasonOf(error) },
      );
    }
  }

  async #pause(milliseconds: number): Promise<void> {
    await sleep(milliseconds, undefined, { signal: this.#stopping.signal, ref: false }).catch(() => {});
  }
}

/** The code of an error or of its first cause that has one, otherwise the error's name: messages may hold a path. */
function reasonOf(error: unknown): string {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code !== undefined) return code;
  }
  return error instanceof Error ? error.name : 'unknown';
}
