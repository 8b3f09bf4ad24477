import type { PriceChangeObject } from '../../../../src/contract/gateway/price-change.ts';

/** A price from a moment on. */
export interface PriceStep {
  readonly fromMs: number;
  /** USD per unit; null = there was none. */
  readonly price: number | null;
}

/** The steps of one price of an endpoint, oldest first. */
export function stepsOf(
  changes: readonly PriceChangeObject[],
  endpoint: string,
  member: string,
): PriceStep[] {
  return changes
    .filter(
      (change) => change.endpoint === endpoint && change.member === member && change.min_prompt_tokens === 0,
    )
    .map(({ at, after }) => ({ fromMs: Date.parse(at), price: after === null ? null : Number(after) }))
    .sort((one, other) => one.fromMs - other.fromMs);
}

interface Frame {
  readonly fromMs: number;
  readonly toMs: number;
  readonly highest: number;
  readonly width: number;
  readonly height: number;
}

/** Points of a line that changes at once and holds in between, never smoothed. */
export function pointsOf(steps: readonly PriceStep[], frame: Frame): string {
  const { fromMs, toMs, highest, width, height } = frame;
  const x = (ms: number) => ((ms - fromMs) / Math.max(1, toMs - fromMs)) * width;
  const y = (price: number) => height - (price / (highest || 1)) * height;
  const points: (readonly [number, number])[] = [];
  for (const [index, { fromMs: at, price }] of steps.entries()) {
    if (price === null) continue;
    const end = steps[index + 1]?.fromMs ?? toMs;
    points.push([x(Math.max(at, fromMs)), y(price)], [x(end), y(price)]);
  }
  return points.map(([left, top]) => `${left.toFixed(1)},${top.toFixed(1)}`).join(' ');
}
