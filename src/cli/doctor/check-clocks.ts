import { type Finding, fine, problem, warning } from './finding.ts';
import { countText, durationText } from './quantities.ts';
import type { Situation } from './situation.ts';

/** A difference is worth a word above the first, and does harm above the second, milliseconds. */
interface Tolerance {
  readonly warningMs: number;
  readonly problemMs: number;
}

const TOLERANCE: Tolerance = { warningMs: 30_000, problemMs: 300_000 };

/** Limits go by the clock of the database: a gateway whose own is further off serves nothing that a limit covers. */
const DATABASE_TOLERANCE: Tolerance = { warningMs: 2_000, problemMs: 60_000 };

const MEND = 'set the clock of this machine by a time server (NTP), or that of the other side if it is yours';

/** Whether the clock of this machine agrees with those of others. */
export async function checkClocks({ reaches, database }: Situation): Promise<Finding[]> {
  const found = await database.catch(() => undefined);
  const told = (await reaches).flatMap(({ reach }) => (reach?.ok ? (reach.clockAheadMs ?? []) : []));
  const last = found?.facts?.lastSettledAtMs;
  return [
    ...(told.length === 0 ? [] : [compare(`of ${countText(told.length, 'provider')}`, medianOf(told))]),
    ...(found?.kind === 'postgres'
      ? [compare('of PostgreSQL', found.facts.clockAheadMs, DATABASE_TOLERANCE)]
      : []),
    ...(last === undefined ? [] : future(last - Date.now())),
  ];
}

function compare(whose: string, aheadMs: number, { warningMs, problemMs } = TOLERANCE): Finding {
  const difference = Math.abs(aheadMs);
  const figures = { ahead_ms: Math.round(aheadMs) };
  if (difference <= warningMs) return fine(`this clock agrees with that ${whose}`, figures);
  const what = `this clock is ${durationText(difference)} ${aheadMs > 0 ? 'behind' : 'ahead of'} that ${whose}`;
  return difference > problemMs ? problem(what, MEND, figures) : warning(what, MEND, figures);
}

function future(aheadMs: number): Finding[] {
  if (aheadMs <= TOLERANCE.warningMs) return [];
  const what = `the last generation was settled ${durationText(aheadMs)} from now`;
  const mend = 'see whether this clock is behind, or was ahead when the gateway ran';
  return [aheadMs > TOLERANCE.problemMs ? problem(what, mend) : warning(what, mend)];
}

/** One server with a wrong clock among several says nothing about this machine. */
function medianOf(values: readonly number[]): number {
  const sorted = [...values].sort((one, other) => one - other);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}
