import type { WaterfallPlan, WaterfallRow } from './waterfall-rows.ts';

/** What a generation spent time on. `other`: the gateway, between calls and after them. */
export type TimeUse = 'gateway' | 'failed' | 'waiting' | 'streaming' | 'tools' | 'other';

/** A part of the time of a generation. */
export interface TimePart {
  readonly use: TimeUse;
  readonly ms: number;
  /** The lines of the waterfall that it was spent in, in their order. */
  readonly rows: readonly WaterfallRow[];
}

interface Stretch {
  readonly use: TimeUse;
  readonly fromMs: number;
  readonly toMs: number;
  readonly row: WaterfallRow;
}

/** Which use a moment belongs to if several go on: the first of these. */
const FIRST_OF: readonly TimeUse[] = ['tools', 'streaming', 'waiting', 'failed', 'gateway'];

const USES = { gate: 'gateway', fail: 'failed', wait: 'waiting', strm: 'streaming', tool: 'tools' } as const;

/** The time of a generation by its use, the longest first. Each moment counts once. */
export function timePartsOf({ totalMs, rows }: WaterfallPlan): readonly TimePart[] {
  const stretches = rows.flatMap(stretchesOf);
  const bounds = [...new Set([0, totalMs, ...stretches.flatMap(({ fromMs, toMs }) => [fromMs, toMs])])].sort(
    (one, other) => one - other,
  );
  const sums = new Map<TimeUse, number>();
  bounds.slice(1).forEach((toMs, index) => {
    const fromMs = bounds[index] ?? 0;
    const open = stretches.filter((stretch) => stretch.fromMs <= fromMs && stretch.toMs >= toMs);
    const use = FIRST_OF.find((each) => open.some((stretch) => stretch.use === each)) ?? 'other';
    sums.set(use, (sums.get(use) ?? 0) + toMs - fromMs);
  });
  return [...sums]
    .map(([use, ms]) => ({
      use,
      ms,
      rows: [...new Set(stretches.filter((stretch) => stretch.use === use).map(({ row }) => row))],
    }))
    .sort((one, other) => other.ms - one.ms);
}

function stretchesOf(row: WaterfallRow): readonly Stretch[] {
  return row.bars.flatMap(({ kind, fromMs, toMs }) => {
    if (kind === 'sum' || toMs <= fromMs) return [];
    // A tool that failed took time as a tool.
    return [{ use: row.kind === 'tool' ? 'tools' : USES[kind], fromMs, toMs, row }];
  });
}
