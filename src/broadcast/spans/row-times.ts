import type { JsonObject } from '../../kit/json/json.ts';
import { numberAt, objectsAt, stringAt } from '../../kit/json/members.ts';
import type { StoredGeneration } from '../../ports/generations/generations.ts';

/** A stretch of time, epoch milliseconds. */
export interface Stretch {
  readonly startMs: number;
  readonly endMs: number;
}

/** When a generation and its upstream calls began and ended, as far as its row tells. */
export class RowTimes {
  readonly startMs: number;
  readonly endMs: number;
  /** The start of the first upstream call. */
  readonly #firstCallMs: number;
  readonly #legs: readonly JsonObject[];

  constructor({ row, settledAtMs }: Pick<StoredGeneration, 'row' | 'settledAtMs'>) {
    const created = Date.parse(stringAt(row, 'created_at') ?? '');
    this.startMs = Number.isFinite(created) ? created : settledAtMs;
    const calls = objectsAt(row, 'provider_responses');
    this.#legs = objectsAt(row, 'legs');
    this.#firstCallMs = firstCallMs(row, this.startMs, calls, this.#legs);
    const known = [
      ...calls.map((call) => this.failedCall(call).endMs),
      ...this.#legs.map((leg) => legEndMs(leg) ?? 0),
      ...objectsAt(row, 'tool_calls').map((call) => toolCallTimes(call, this.startMs).endMs),
    ];
    // A generation that broke off was settled at the next start of the gateway, perhaps days later.
    const isBrokenOff = row.finish_reason === 'error' && row.error === undefined;
    const atEndMs = isBrokenOff ? 0 : Math.min(settledAtMs, this.#answeredMs(row) ?? settledAtMs);
    this.endMs = Math.max(this.startMs, atEndMs, ...known);
  }

  /** The first content came, and with it the time of the serving call: their sum is an upper bound of the end. */
  #answeredMs(row: JsonObject): number | undefined {
    const latency = numberAt(row, 'latency');
    if (latency === undefined) return undefined;
    return this.startMs + latency + (numberAt(row, 'generation_time') ?? 0);
  }

  failedCall(call: JsonObject): Stretch {
    const startMs = this.#firstCallMs + (numberAt(call, 'started_ms') ?? 0);
    return { startMs, endMs: startMs + (numberAt(call, 'latency') ?? 0) };
  }

  /**
   * The legs that had ended when a leg began, without those that others of them had followed: of legs at the same time
   * none is before the other. Numbers count from 1. Where times are unknown, one leg follows another.
   */
  legsBefore(number: number): number[] {
    const startMs = legStartMs(this.#legs[number - 1]);
    if (startMs === undefined) return [number - 1];
    const found: number[] = [];
    let followedMs = Number.NEGATIVE_INFINITY;
    for (let earlier = number - 1; earlier > 0; earlier--) {
      const leg = this.#legs[earlier - 1];
      const endMs = leg && legEndMs(leg);
      if (endMs === undefined || endMs > startMs) continue;
      if (endMs > followedMs) found.unshift(earlier);
      followedMs = Math.max(followedMs, legStartMs(leg) ?? followedMs);
    }
    return found;
  }

  servingCall(call: JsonObject): Stretch {
    const { startMs, endMs } = this.failedCall(call);
    const leg = this.#legs[(numberAt(call, 'leg') ?? 1) - 1];
    const legEnd = leg === undefined ? this.endMs : legEndMs(leg);
    return { startMs, endMs: Math.max(endMs, legEnd ?? endMs) };
  }
}

/** The first call began after the request was read and planned: what is left of the time to the first content. */
function firstCallMs(
  row: JsonObject,
  startMs: number,
  calls: readonly JsonObject[],
  legs: readonly JsonObject[],
): number {
  const ofLeg = legStartMs(legs[0]);
  if (ofLeg !== undefined) return ofLeg;
  const latency = numberAt(row, 'latency');
  const last = calls.at(-1);
  if (latency === undefined || last === undefined || legs.length > 0) return startMs;
  const calling = (numberAt(last, 'started_ms') ?? 0) + (numberAt(last, 'latency') ?? 0);
  return startMs + Math.max(0, latency - calling);
}

function legStartMs(leg: JsonObject | undefined): number | undefined {
  const startMs = Date.parse(stringAt(leg, 'started_at') ?? '');
  return Number.isFinite(startMs) ? startMs : undefined;
}

function legEndMs(leg: JsonObject): number | undefined {
  const startMs = legStartMs(leg);
  const durationMs = numberAt(leg, 'duration_ms');
  return startMs !== undefined && durationMs !== undefined ? startMs + durationMs : undefined;
}

/** `otherwiseMs`: the start of a call without a time. */
export function toolCallTimes(call: JsonObject, otherwiseMs: number): Stretch {
  const started = Date.parse(stringAt(call, 'started_at') ?? '');
  const startMs = Number.isFinite(started) ? started : otherwiseMs;
  return { startMs, endMs: startMs + Math.max(0, numberAt(call, 'duration_ms') ?? 0) };
}
