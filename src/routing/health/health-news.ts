import type { Clock } from '../../kit/time/clock.ts';
import type { FailureCount, HealthReport, ReportedCooldown } from '../../ports/shared/routing-memory.ts';
import type { BegunCooldown } from './breaker.ts';
import { MeasuredTally } from './measured-tally.ts';
import type { ServicePlace } from './service-place.ts';

interface PlaceNews {
  readonly place: ServicePlace;
  hasSucceeded: boolean;
  /** Failures by account; undefined = due to no account. */
  readonly failures: Map<string | undefined, number>;
  cooldown: (BegunCooldown & { readonly untilMs: number }) | undefined;
  isBack: boolean;
  /** Ends by the monotonic clock; 0 = none. */
  pausedUntilMs: number;
  deferredUntilMs: number;
}

/** Collects what this process learns of the health of sites, as reports for others. */
export class HealthNews {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #places = new Map<string, PlaceNews>();
  /** Tallies by site. */
  readonly #measured = new Map<string, MeasuredTally>();

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  /** A call succeeded where failures were counted. */
  recovered(place: ServicePlace): void {
    const news = this.#of(place);
    news.hasSucceeded = true;
    news.failures.clear();
  }

  /** A failure counts. `account`: whose request it may be due to. */
  failed(place: ServicePlace, account: string | undefined): void {
    const { failures } = this.#of(place);
    failures.set(account, (failures.get(account) ?? 0) + 1);
  }

  opened(place: ServicePlace, cooldown: BegunCooldown): void {
    const news = this.#of(place);
    news.cooldown = { ...cooldown, untilMs: this.#clock.monotonic() + cooldown.lengthMs };
    news.isBack = false;
  }

  closed(place: ServicePlace): void {
    const news = this.#of(place);
    news.cooldown = undefined;
    news.isBack = true;
  }

  paused(place: ServicePlace, lengthMs: number): void {
    this.#of(place).pausedUntilMs = this.#clock.monotonic() + lengthMs;
  }

  deferred(place: ServicePlace, lengthMs: number): void {
    this.#of(place).deferredUntilMs = this.#clock.monotonic() + lengthMs;
  }

  /** Where the measurements of a site are counted for others. */
  measuredAt(site: string): MeasuredTally {
    const known = this.#measured.get(site);
    if (known !== undefined) return known;
    const made = new MeasuredTally();
    this.#measured.set(site, made);
    return made;
  }

  forget(site: string): void {
    this.#measured.delete(site);
  }

  /** Takes up to `most` reports; the rest stays. Measurements are taken if wanted: they are many and never urgent. */
  take(most: number, withMeasurements: boolean): HealthReport[] {
    const nowMs = this.#clock.monotonic();
    const reports: HealthReport[] = [];
    for (const [key, news] of this.#places) {
      if (reports.length >= most) return reports;
      this.#places.delete(key);
      reports.push(reportOf(news, nowMs));
    }
    if (!withMeasurements) return reports;
    for (const [site, tally] of this.#measured) {
      if (reports.length >= most) return reports;
      const measured = tally.take();
      if (measured !== null) reports.push({ ...emptyReport(site), measured });
    }
    return reports;
  }

  #of(place: ServicePlace): PlaceNews {
    const key = `${place.site}\n${place.account ?? ''}`;
    const known = this.#places.get(key);
    if (known !== undefined) return known;
    const made: PlaceNews = {
      place,
      hasSucceeded: false,
      failures: new Map(),
      cooldown: undefined,
      isBack: false,
      pausedUntilMs: 0,
      deferredUntilMs: 0,
    };
    this.#places.set(key, made);
    return made;
  }
}

export function emptyReport(site: string, account?: string): HealthReport {
  return {
    site,
    account: account ?? null,
    hasSucceeded: false,
    failures: [],
    cooldown: null,
    isBack: false,
    pauseMs: 0,
    deferralMs: 0,
    measured: null,
  };
}

function reportOf(news: PlaceNews, nowMs: number): HealthReport {
  const { place, hasSucceeded, cooldown, isBack, pausedUntilMs, deferredUntilMs } = news;
  return {
    ...emptyReport(place.site, place.account),
    hasSucceeded,
    failures: [...news.failures].map(
      ([account, count]): FailureCount => ({ account: account ?? null, count }),
    ),
    cooldown: cooldown === undefined ? null : reportedCooldown(cooldown, nowMs),
    isBack,
    pauseMs: Math.max(0, pausedUntilMs - nowMs),
    deferralMs: Math.max(0, deferredUntilMs - nowMs),
  };
}

function reportedCooldown(
  { round, failures, untilMs }: NonNullable<PlaceNews['cooldown']>,
  nowMs: number,
): ReportedCooldown {
  return { leftMs: Math.max(0, untilMs - nowMs), round, failures };
}
