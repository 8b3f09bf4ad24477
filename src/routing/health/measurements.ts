import type { Percentiles } from './endpoint-health.ts';
import { LATENCY, RollingHistogram, type Scale, THROUGHPUT } from './percentiles.ts';
import { RollingSums } from './rolling-sums.ts';

/** What the endpoints list says about the service of an endpoint; null = nothing is known. */
export interface ServiceStatistics {
  /** Share of calls that were answered, percent. */
  readonly uptime5m: number | null;
  readonly uptime30m: number | null;
  readonly uptime1d: number | null;
  /** Milliseconds to the first token. */
  readonly latency30m: Percentiles | null;
  /** Tokens per second. */
  readonly throughput30m: Percentiles | null;
}

/** Of an endpoint that was not called yet. */
export const NO_STATISTICS: ServiceStatistics = {
  uptime5m: null,
  uptime30m: null,
  uptime1d: null,
  latency30m: null,
  throughput30m: null,
};

/** Latency and throughput of the last 5 minutes. */
export interface Pace {
  readonly latency: Percentiles | undefined;
  readonly throughput: Percentiles | undefined;
}

const SECOND = 1000;
const MINUTE = 60 * SECOND;

/** The windows over which is counted. */
const WINDOWS = {
  /** 30 seconds. */
  moments: { slices: 6, sliceMs: 5 * SECOND },
  /** 5 minutes. */
  minutes: { slices: 5, sliceMs: MINUTE },
  /** 30 minutes. */
  halfHour: { slices: 6, sliceMs: 5 * MINUTE },
  /** A day. */
  day: { slices: 288, sliceMs: 5 * MINUTE },
};

type Window = (typeof WINDOWS)[keyof typeof WINDOWS];

/** Columns of counts: how many, and how many of them were bad. */
const ALL = 0;
const BAD = 1;
const COLUMNS = 2;

/** An endpoint is unstable when at least this share of its calls failed. */
const UNSTABLE_SHARE = 0.2;

/** Fewer answers with tool calls say nothing about how often they are broken. */
const ENOUGH_TOOL_ANSWERS = 20;

/** How long percentiles are taken for true before they are counted anew, milliseconds. */
const PACE_MS = 1000;

/**
 * What was measured of one site in the time just past. Takes 2.4 kilobytes of cells, and 5.5 more from the first
 * answer on, however many calls there are. A call counts once it is known whether it is answered: at its first token,
 * or at its end.
 */
export class Measurements {
  readonly #moments = countsOver(WINDOWS.moments);
  readonly #minutes = countsOver(WINDOWS.minutes);
  readonly #day = countsOver(WINDOWS.day);
  readonly #toolAnswers = countsOver(WINDOWS.halfHour);
  #latency: Histograms | undefined;
  #throughput: Histograms | undefined;
  #pace: Pace = { latency: undefined, throughput: undefined };
  #paceUntilMs = 0;

  addCall(nowMs: number): void {
    this.#count(ALL, nowMs);
  }

  addFailure(nowMs: number): void {
    this.#count(BAD, nowMs);
  }

  /** Milliseconds from the call to its first token. */
  addLatency(latencyMs: number, nowMs: number): void {
    this.#latency ??= new Histograms(LATENCY);
    this.#latency.add(latencyMs, nowMs);
  }

  /** Tokens per second. */
  addThroughput(throughput: number, nowMs: number): void {
    this.#throughput ??= new Histograms(THROUGHPUT);
    this.#throughput.add(throughput, nowMs);
  }

  /** An answer that held tool calls. */
  addToolAnswer(isBad: boolean, nowMs: number): void {
    this.#toolAnswers.add(ALL, 1, nowMs);
    if (isBad) this.#toolAnswers.add(BAD, 1, nowMs);
  }

  /** Whether a good part of the calls of the last 30 seconds failed. */
  isUnstable(nowMs: number): boolean {
    const failures = this.#moments.sum(BAD, nowMs);
    return failures > 0 && failures >= UNSTABLE_SHARE * this.#moments.sum(ALL, nowMs);
  }

  /** Share of answers with tool calls that held a broken one; undefined when there were too few to tell. */
  toolErrorRate(nowMs: number): number | undefined {
    const answers = this.#toolAnswers.sum(ALL, nowMs);
    return answers < ENOUGH_TOOL_ANSWERS ? undefined : this.#toolAnswers.sum(BAD, nowMs) / answers;
  }

  /** As of this moment, or of one second before. */
  pace(nowMs: number): Pace {
    if (nowMs >= this.#paceUntilMs) {
      this.#paceUntilMs = nowMs + PACE_MS;
      this.#pace = {
        latency: this.#latency?.minutes.percentiles(nowMs),
        throughput: this.#throughput?.minutes.percentiles(nowMs),
      };
    }
    return this.#pace;
  }

  statistics(nowMs: number): ServiceStatistics {
    return {
      uptime5m: uptimeOf(this.#minutes, WINDOWS.minutes, nowMs),
      uptime30m: uptimeOf(this.#day, WINDOWS.halfHour, nowMs),
      uptime1d: uptimeOf(this.#day, WINDOWS.day, nowMs),
      latency30m: this.#latency?.halfHour.percentiles(nowMs) ?? null,
      throughput30m: this.#throughput?.halfHour.percentiles(nowMs) ?? null,
    };
  }

  #count(column: number, nowMs: number): void {
    this.#moments.add(column, 1, nowMs);
    this.#minutes.add(column, 1, nowMs);
    this.#day.add(column, 1, nowMs);
  }
}

/** One thing measured, for routing (5 minutes) and for show (30 minutes). */
class Histograms {
  readonly minutes: RollingHistogram;
  readonly halfHour: RollingHistogram;

  constructor(scale: Scale) {
    this.minutes = new RollingHistogram(scale, WINDOWS.minutes.slices, WINDOWS.minutes.sliceMs);
    this.halfHour = new RollingHistogram(scale, WINDOWS.halfHour.slices, WINDOWS.halfHour.sliceMs);
  }

  add(value: number, nowMs: number): void {
    this.minutes.add(value, nowMs);
    this.halfHour.add(value, nowMs);
  }
}

function countsOver({ slices, sliceMs }: Window): RollingSums {
  return new RollingSums(new Uint32Array(slices * COLUMNS), COLUMNS, sliceMs);
}

/** A failure after the first token may fall into a later slice than its call. */
function uptimeOf(counts: RollingSums, { slices }: Window, nowMs: number): number | null {
  const failures = counts.sum(BAD, nowMs, slices);
  const calls = Math.max(failures, counts.sum(ALL, nowMs, slices));
  return calls === 0 ? null : Math.round((10_000 * (calls - failures)) / calls) / 100;
}
