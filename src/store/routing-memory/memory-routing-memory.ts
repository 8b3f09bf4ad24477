import { RecentMap } from '../../kit/collections/recent-map.ts';
import type { Clock } from '../../kit/time/clock.ts';
import {
  type ExchangedNews,
  GATEWAY_COUNTS_MS,
  MAX_RECEIVED_NEWS,
  NEWS_LIFETIME_MS,
  type NewsExchange,
  type Pin,
  type RoutingMemory,
  type RoutingNews,
} from '../../ports/shared/routing-memory.ts';

/** Pins in memory, about 350 bytes each; the least recently used is evicted. */
const MAX_PINS = 100_000;

/** News that are kept for processes that have not got them; the oldest are dropped. */
const MAX_NEWS = 10_000;

interface LastingPin extends Pin {
  /** When it ends, by the monotonic clock. */
  readonly untilMs: number;
}

interface Entry {
  readonly position: number;
  readonly atMs: number;
  readonly processId: string;
  readonly news: RoutingNews;
}

interface Probe {
  readonly processId: string;
  readonly untilMs: number;
}

/** Routing memory of the processes of one machine. */
export class MemoryRoutingMemory implements RoutingMemory {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #pins = new RecentMap<string, LastingPin>(MAX_PINS);
  /** Oldest first. */
  #entries: Entry[] = [];
  #position = 0;
  /** Last exchange of each gateway. */
  readonly #gateways = new Map<string, number>();
  readonly #probes = new Map<string, Probe>();

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  async findPin(key: string): Promise<Pin | undefined> {
    const found = this.#pins.get(key);
    if (found === undefined) return undefined;
    const { untilMs, ...pin } = found;
    if (untilMs >= this.#clock.monotonic()) return pin;
    this.#pins.delete(key);
    return undefined;
  }

  async setPin(key: string, { site, modelId }: Pin, idleMs: number): Promise<void> {
    this.#pins.set(key, { site, modelId, untilMs: this.#clock.monotonic() + idleMs });
  }

  async exchange({ gatewayId, processId, after, news }: NewsExchange): Promise<ExchangedNews> {
    const nowMs = this.#clock.monotonic();
    this.#entries = this.#entries.filter(({ atMs }) => atMs > nowMs - NEWS_LIFETIME_MS).slice(1 - MAX_NEWS);
    const last = after === null ? 0 : Number(after);
    const waiting = this.#entries.filter(({ position }) => position > last);
    const brought = waiting.slice(0, MAX_RECEIVED_NEWS);
    const position = waiting.length > brought.length ? brought.at(-1)?.position : this.#position;
    if (news.health.length + news.movedPins.length > 0) {
      this.#entries.push({ position: ++this.#position, atMs: nowMs, processId, news });
    }
    return {
      position: String(position),
      received: brought
        .filter((entry) => entry.processId !== processId)
        .map((entry) => ({ ...entry.news, ageMs: nowMs - entry.atMs })),
      gateways: this.#countGateways(gatewayId, nowMs),
    };
  }

  async takeProbe(place: string, processId: string, forMs: number): Promise<boolean> {
    const nowMs = this.#clock.monotonic();
    const probe = this.#probes.get(place);
    if (probe !== undefined && probe.untilMs > nowMs) return false;
    for (const [known, { untilMs }] of this.#probes) if (untilMs <= nowMs) this.#probes.delete(known);
    this.#probes.set(place, { processId, untilMs: nowMs + forMs });
    return true;
  }

  async endProbe(place: string, processId: string, keepMs: number): Promise<void> {
    const probe = this.#probes.get(place);
    const nowMs = this.#clock.monotonic();
    if (probe?.processId !== processId || probe.untilMs <= nowMs) return;
    if (keepMs === 0) this.#probes.delete(place);
    else this.#probes.set(place, { processId, untilMs: nowMs + keepMs });
  }

  #countGateways(gatewayId: string, nowMs: number): number {
    this.#gateways.set(gatewayId, nowMs);
    for (const [id, atMs] of this.#gateways) {
      if (atMs <= nowMs - GATEWAY_COUNTS_MS) this.#gateways.delete(id);
    }
    return this.#gateways.size;
  }
}
