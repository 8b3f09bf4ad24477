import type { BucketCounts, MeasuredCalls } from '../../ports/shared/routing-memory.ts';
import type { CallTally } from './call-tallies.ts';
import type { Percentiles } from './endpoint-health.ts';
import type { MeasuredTally } from './measured-tally.ts';
import { LATENCY, RollingHistogram, type Scale, THROUGHPUT } from './percentiles.ts';
import { RollingSums } from './rolling-sums.ts';

/** Statistics of an endpoint for the list of endpoints; null = nothing measured. */
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

/** Length of a slot of a history, milliseconds. */
export const HISTORY_SLOT_MS = 900_000;

/** Calls of an endpoint in slots of HISTORY_SLOT_MS over the last day, oldest first. */
export interface ServiceHistory {
  readonly calls: readonly number[];
  readonly failures: readonly number[];
}

export const NO_STATISTICS: ServiceStatistics = {
  uptime5m: null,
  uptime30m: null,
  uptime1d: null,
  latency30m: null,
  throughput30m: null,
};

export interface EndpointPace {
  readonly latency: Percentiles | undefined;
  readonly throughput: Percentiles | undefined;
}

const SECOND = 1000;
const MINUTE = 60 * SECOND;

/** The window in which failures make a site unstable. */
export const INSTABILITY_WINDOW = { slices: 6, sliceMs: 5 * SECOND };

const WINDOWS = {
  halfMinute: INSTABILITY_WINDOW,
  fiveMinutes: { slices: 5, sliceMs: MINUTE },
  halfHour: { slices: 6, sliceMs: 5 * MINUTE },
  day: { slices: 288, sliceMs: 5 * MINUTE },
};

const SLICES_PER_SLOT = HISTORY_SLOT_MS / WINDOWS.day.sliceMs;

type Window = (typeof WINDOWS)[keyof typeof WINDOWS];

/** Columns of counts: all, and those of them that were bad. */
const ALL = 0;
const BAD = 1;
const COLUMNS = 2;

/** An endpoint is unstable if at least this share of its calls failed. */
const UNSTABLE_SHARE = 0.2;

/** With fewer answers the rate of broken tool calls is unknown. */
const MIN_TOOL_ANSWERS = 20;

/** How long computed percentiles are reused, milliseconds. */
const PACE_CACHE_MS = 1000;

/**
 * Rolling measurements of one site. Takes 2.4 kilobytes, and 5.5 more from the first answer on, for any number of
 * calls. A call is counted at its first token, or at its end if it had none.
 */
export class Measurements {
  readonly #halfMinute = countsOver(WINDOWS.halfMinute);
  readonly #fiveMinutes = countsOver(WINDOWS.fiveMinutes);
  readonly #day = countsOver(WINDOWS.day);
  readonly #toolAnswers = countsOver(WINDOWS.halfHour);
  #latency: Histograms | undefined;
  #throughput: Histograms | undefined;
  #pace: EndpointPace = { latency: undefined, throughput: undefined };
  #paceUntilMs = 0;
  readonly #unreported: MeasuredTally | undefined;
  readonly #uptime: CallTally | undefined;

  /**
   * `unreported`: counts the same for other processes; absent = there are none. `uptime`: counts calls and failures
   * that are stored; absent = they are not.
   */
  constructor(unreported?: MeasuredTally, uptime?: CallTally) {
    this.#unreported = unreported;
    this.#uptime = uptime;
  }

  addCall(nowMs: number): void {
    this.#addCalls(1, nowMs);
    if (this.#uptime !== undefined) this.#uptime.calls++;
    if (this.#unreported !== undefined) this.#unreported.calls++;
  }

  /** `isOfOne`: only the requests of one account fail, which makes the site unstable for no other. */
  addFailure(nowMs: number, isOfOne = false): void {
    this.#addFailures(1, nowMs, isOfOne);
    if (this.#uptime !== undefined) this.#uptime.failures++;
    if (this.#unreported === undefined) return;
    if (isOfOne) this.#unreported.failuresOfOne++;
    else this.#unreported.failures++;
  }

  /** Milliseconds from the call to its first token. */
  addLatency(latencyMs: number, nowMs: number): void {
    this.#latency ??= new Histograms(LATENCY);
    const bucket = this.#latency.bucketOf(latencyMs);
    this.#latency.add(bucket, 1, nowMs);
    this.#unreported?.latency.add(bucket);
  }

  /** Tokens per second. */
  addThroughput(throughput: number, nowMs: number): void {
    this.#throughput ??= new Histograms(THROUGHPUT);
    const bucket = this.#throughput.bucketOf(throughput);
    this.#throughput.add(bucket, 1, nowMs);
    this.#unreported?.throughput.add(bucket);
  }

  addToolAnswer(isBad: boolean, nowMs: number): void {
    this.#addToolAnswers(1, isBad ? 1 : 0, nowMs);
    if (this.#unreported === undefined) return;
    this.#unreported.toolAnswers++;
    if (isBad) this.#unreported.badToolAnswers++;
  }

  /** Adds what another process has measured. */
  addReported(reported: MeasuredCalls, nowMs: number): void {
    this.#addCalls(reported.calls, nowMs);
    this.#addFailures(reported.failures, nowMs, false);
    this.#addFailures(reported.failuresOfOne, nowMs, true);
    this.#addToolAnswers(reported.toolAnswers, reported.badToolAnswers, nowMs);
    if (reported.latency.length > 0) {
      this.#latency ??= new Histograms(LATENCY);
      this.#latency.addAll(reported.latency, nowMs);
    }
    if (reported.throughput.length > 0) {
      this.#throughput ??= new Histograms(THROUGHPUT);
      this.#throughput.addAll(reported.throughput, nowMs);
    }
  }

  #addCalls(count: number, nowMs: number): void {
    this.#halfMinute.add(ALL, count, nowMs);
    this.#fiveMinutes.add(ALL, count, nowMs);
    this.#day.add(ALL, count, nowMs);
  }

  #addFailures(count: number, nowMs: number, isOfOne: boolean): void {
    if (!isOfOne) this.#halfMinute.add(BAD, count, nowMs);
    this.#fiveMinutes.add(BAD, count, nowMs);
    this.#day.add(BAD, count, nowMs);
  }

  #addToolAnswers(all: number, bad: number, nowMs: number): void {
    this.#toolAnswers.add(ALL, all, nowMs);
    this.#toolAnswers.add(BAD, bad, nowMs);
  }

  /** True if at least UNSTABLE_SHARE of the calls of the last 30 seconds failed. */
  isUnstable(nowMs: number): boolean {
    return this.isUnstableWith(this.#halfMinute.sum(BAD, nowMs), nowMs);
  }

  /** `isUnstable`, if so many of the calls of the last 30 seconds had failed. */
  isUnstableWith(failures: number, nowMs: number): boolean {
    return failures > 0 && failures >= UNSTABLE_SHARE * this.#halfMinute.sum(ALL, nowMs);
  }

  /** Share of answers with tool calls that had a broken one; undefined if there were too few answers. */
  toolErrorRate(nowMs: number): number | undefined {
    const answers = this.#toolAnswers.sum(ALL, nowMs);
    return answers < MIN_TOOL_ANSWERS ? undefined : this.#toolAnswers.sum(BAD, nowMs) / answers;
  }

  /** Up to PACE_CACHE_MS old. */
  pace(nowMs: number): EndpointPace {
    if (nowMs >= this.#paceUntilMs) {
      this.#paceUntilMs = nowMs + PACE_CACHE_MS;
      this.#pace = {
        latency: this.#latency?.fiveMinutes.percentiles(nowMs),
        throughput: this.#throughput?.fiveMinutes.percentiles(nowMs),
      };
    }
    return this.#pace;
  }

  /** Calls and failures of the last day. */
  history(nowMs: number): ServiceHistory {
    const failures = this.#day.series(BAD, nowMs, SLICES_PER_SLOT);
    const calls = this.#day.series(ALL, nowMs, SLICES_PER_SLOT);
    // A failure after the first token may fall into a later slot than its call.
    return { failures, calls: calls.map((count, at) => Math.max(count, failures[at] ?? 0)) };
  }

  statistics(nowMs: number): ServiceStatistics {
    return {
      uptime5m: uptimeOf(this.#fiveMinutes, WINDOWS.fiveMinutes, nowMs),
      uptime30m: uptimeOf(this.#day, WINDOWS.halfHour, nowMs),
      uptime1d: uptimeOf(this.#day, WINDOWS.day, nowMs),
      latency30m: this.#latency?.halfHour.percentiles(nowMs) ?? null,
      throughput30m: this.#throughput?.halfHour.percentiles(nowMs) ?? null,
    };
  }
}

/** Histograms of one quantity: 5 minutes for routing, 30 minutes for the list of endpoints. */
class Histograms {
  readonly fiveMinutes: RollingHistogram;
  readonly halfHour: RollingHistogram;

  constructor(scale: Scale) {
    this.fiveMinutes = new RollingHistogram(scale, WINDOWS.fiveMinutes.slices, WINDOWS.fiveMinutes.sliceMs);
    this.halfHour = new RollingHistogram(scale, WINDOWS.halfHour.slices, WINDOWS.halfHour.sliceMs);
  }

  bucketOf(value: number): number {
    return this.fiveMinutes.bucketOf(value);
  }

  add(bucket: number, count: number, nowMs: number): void {
    this.fiveMinutes.add(bucket, count, nowMs);
    this.halfHour.add(bucket, count, nowMs);
  }

  addAll(counts: BucketCounts, nowMs: number): void {
    for (const [bucket, count] of counts) this.add(bucket, count, nowMs);
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
