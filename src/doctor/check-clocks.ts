import { countText } from '../kit/text/count-text.ts';
import { durationText } from '../kit/text/quantities.ts';
import { type CheckFinding, fine, problem, warning } from './finding.ts';
import type { Situation } from './situation.ts';

/** Differences above these are a warning, or a problem. */
interface Tolerance {
  readonly warningMs: number;
  readonly problemMs: number;
}

const TOLERANCE: Tolerance = { warningMs: 30_000, problemMs: 300_000 };

/** Limits use the database's clock: a gateway whose own differs by more refuses requests that a limit covers. */
const DATABASE_TOLERANCE: Tolerance = { warningMs: 2_000, problemMs: 60_000 };

const MEND = 'synchronize this machine with a time server (NTP), or the other machine if it is yours';

export async function checkClocks({ providers, database }: Situation): Promise<CheckFinding[]> {
  const found = await database.catch(() => undefined);
  const differencesMs = ((await providers) ?? []).flatMap(({ reach }) =>
    reach?.ok ? (reach.clock_ahead_ms ?? []) : [],
  );
  const last = found?.facts?.lastSettledAtMs;
  return [
    ...(differencesMs.length === 0
      ? []
      : [compare(`of ${countText(differencesMs.length, 'provider')}`, medianOf(differencesMs))]),
    ...(found?.kind === 'postgres'
      ? [compare('of PostgreSQL', found.facts.clockAheadMs, DATABASE_TOLERANCE)]
      : []),
    ...(last === undefined ? [] : future(last - Date.now())),
  ];
}

function compare(whose: string, aheadMs: number, { warningMs, problemMs } = TOLERANCE): CheckFinding {
  const difference = Math.abs(aheadMs);
  const figures = { ahead_ms: Math.round(aheadMs) };
  if (difference <= warningMs) return fine(`this clock agrees with that ${whose}`, figures);
  const what = `this clock is ${durationText(difference)} ${aheadMs > 0 ? 'behind' : 'ahead of'} that ${whose}`;
  return difference > problemMs ? problem(what, MEND, figures) : warning(what, MEND, figures);
}

function future(aheadMs: number): CheckFinding[] {
  if (aheadMs <= TOLERANCE.warningMs) return [];
  const what = `the last generation has a time ${durationText(aheadMs)} in the future`;
  const mend = 'check whether this clock is behind now, or was ahead when the gateway ran';
  return [aheadMs > TOLERANCE.problemMs ? problem(what, mend) : warning(what, mend)];
}

/** The median, so that one server with a wrong clock does not matter. */
function medianOf(values: readonly number[]): number {
  const sorted = [...values].sort((one, other) => one - other);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}
