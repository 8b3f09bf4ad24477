import type { Clock } from '../../kit/time/clock.ts';
import {
  type ExchangedNews,
  GATEWAY_COUNTS_MS,
  type NewsExchange,
  type RoutingMemory,
  type RoutingNews,
} from '../../ports/shared/routing-memory.ts';
import type { Pins } from '../conversation/pins.ts';
import type { Health } from '../health/health.ts';
import type { HealthNews } from '../health/health-news.ts';

export interface NewsParts {
  readonly memory: Pick<RoutingMemory, 'exchange'>;
  /** Asks the store; rejects while it does not answer. */
  ask<T>(work: () => Promise<T>): Promise<T>;
  readonly news: Pick<HealthNews, 'take'>;
  readonly health: Pick<Health, 'applyNews' | 'cooldownReports'>;
  readonly pins: Pick<Pins, 'forget'>;
  readonly gatewayId: string;
  readonly processId: string;
  readonly clock: Pick<Clock, 'monotonic'>;
}

/** Time between exchanges, milliseconds: news reaches every process within two of them. */
export const EXCHANGE_EVERY_MS = 250;

/** Measurements are given with every eighth exchange: they are many, and routing does not wait for them. */
const MEASURED_EVERY = 8;

/** Reports and moved pins of one exchange at most. */
const MAX_REPORTS = 300;
const MAX_MOVED_PINS = 1000;

/** Gives the news of this process to the others and applies theirs, a few times a second. */
export class NewsExchanger {
  readonly #parts: NewsParts;
  #movedPins = new Set<string>();
  /** Given, and not known to have arrived. */
  #unsent: RoutingNews | undefined;
  #after: string | null = null;
  #gateways = 1;
  /** Since when the store knows fewer gateways than `#gateways`, by the monotonic clock. */
  #fewerSince: number | undefined;
  #rounds = 0;
  #received = 0;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;

  constructor(parts: NewsParts) {
    this.#parts = parts;
  }

  /** Gateways that share the store, this one included. */
  get gateways(): number {
    return this.#gateways;
  }

  /** Reports of others so far. */
  get received(): number {
    return this.#received;
  }

  /** Other processes have an old copy of this pin. */
  pinMoved(key: string): void {
    if (this.#movedPins.size < MAX_MOVED_PINS) this.#movedPins.add(key);
  }

  /** Exchanges until `close`. The first exchange is made at once, so that a start knows what cools down. */
  async open(): Promise<void> {
    this.#timer = setInterval(() => void this.exchange(), EXCHANGE_EVERY_MS).unref();
    await this.exchange();
  }

  /** One exchange; that under way if there is one. */
  exchange(): Promise<void> {
    this.#running ??= this.#exchange().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  /** After an outage: tells the others what cools down here. */
  announce(): void {
    this.#unsent = { health: this.#parts.health.cooldownReports().slice(0, MAX_REPORTS), movedPins: [] };
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.exchange();
  }

  async #exchange(): Promise<void> {
    const { memory, ask, gatewayId, processId, health, pins } = this.#parts;
    const news = this.#takeNews();
    const given: NewsExchange = { gatewayId, processId, after: this.#after, news };
    let brought: ExchangedNews;
    try {
      brought = await ask(() => memory.exchange(given));
    } catch {
      this.#unsent = news;
      return;
    }
    this.#after = brought.position;
    this.#countGateways(brought.gateways);
    for (const received of brought.received) {
      this.#received += received.health.length;
      health.applyNews(received);
      for (const key of received.movedPins) pins.forget(key);
    }
  }

  /**
   * A smaller number counts when it has lasted: a store that was restarted empty knows only the gateways that have
   * come back, and if it failed again then, those would admit more than their shares.
   */
  #countGateways(known: number): void {
    const now = this.#parts.clock.monotonic();
    if (known < this.#gateways) {
      this.#fewerSince ??= now;
      if (now - this.#fewerSince < GATEWAY_COUNTS_MS) return;
    }
    this.#gateways = known;
    this.#fewerSince = undefined;
  }

  /** What could not be given comes first; what is new waits then, so that news stays in order. */
  #takeNews(): RoutingNews {
    const unsent = this.#unsent;
    this.#unsent = undefined;
    if (unsent !== undefined && unsent.health.length + unsent.movedPins.length > 0) return unsent;
    this.#rounds += 1;
    const health = this.#parts.news.take(MAX_REPORTS, this.#rounds % MEASURED_EVERY === 0);
    const movedPins = [...this.#movedPins];
    this.#movedPins.clear();
    return { health, movedPins };
  }
}
