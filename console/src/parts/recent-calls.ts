import type { ServiceHistoryObject } from '../../../src/contract/gateway/provider-state.ts';

/** Calls of a time, and how many of them failed. */
export interface RecentCalls {
  readonly calls: number;
  readonly failures: number;
}

/** Slots of a history, of 15 minutes each, that count as now: the last one may have just begun. */
const RECENT_SLOTS = 2;

/** Below these shares of answered calls a state is amber, and red. */
const WELL_SHARE = 0.95;
const HALF = 0.5;

/** The calls of the last 15 to 30 minutes. */
export function recentCalls(history: ServiceHistoryObject | null): RecentCalls {
  const sum = (values: readonly number[] = []) =>
    values.slice(-RECENT_SLOTS).reduce((total, value) => total + value, 0);
  return { calls: sum(history?.calls), failures: sum(history?.failures) };
}

/** How the share of answered calls is shown; without calls there is nothing to complain of. */
export function answeredTone({ calls, failures }: RecentCalls): 'ok' | 'warn' | 'bad' {
  const share = calls === 0 ? 1 : (calls - failures) / calls;
  if (share >= WELL_SHARE) return 'ok';
  return share > HALF ? 'warn' : 'bad';
}
