import { randomUUID } from 'node:crypto';
import type { Log } from '../kit/log/log.ts';
import { systemClock } from '../kit/time/clock.ts';
import { UptimeHistory } from '../manage/models/uptime-history.ts';
import type { CountedCalls } from '../ports/upstreams/call-counts.ts';
import { CallTallies } from '../routing/health/call-tallies.ts';
import { partsOfSite } from '../routing/rules/candidate.ts';
import { OutageLog } from '../store/outage-log.ts';
import type { Closers } from './closers.ts';
import type { Installation } from './installation.ts';

/** How often a worker tells its owner of the calls that it has counted, milliseconds. */
const WORKER_REPORT_MS = 2_000;

/** Counts the calls of endpoints with the gateway's own credential: a caller's own may be at fault. */
export function openCallTallies(): CallTallies {
  return new CallTallies((site) => partsOfSite(site).byokCredential === undefined);
}

/** Opens the stored calls of endpoints. What `tallies` count is stored every minute and when the gateway stops. */
export function openUptimeHistory(
  tallies: CallTallies,
  { installation, log }: { readonly installation: Pick<Installation, 'callCountStore'>; readonly log: Log },
  closers: Closers,
): UptimeHistory {
  const history = new UptimeHistory({
    store: installation.callCountStore,
    take: () => tallies.take(),
    runId: randomUUID(),
    clock: systemClock,
    outage: new OutageLog((message, fields) => log.warn(message, fields), {
      begins: 'calls of endpoints cannot be stored; they wait in memory, and uptime lacks them until then',
      ends: 'calls of endpoints are stored again',
    }),
    lost: (calls) =>
      log.warn('calls of endpoints were not stored before the stop; uptime lacks them', { calls }),
  });
  history.open();
  return closers.add('the uptime of endpoints', history);
}

/** Has a worker tell its owner of the calls that it counts, and of the last ones when it is closed. */
export function reportCalls(
  tallies: CallTallies,
  report: (counted: readonly CountedCalls[]) => void,
): { close(): void } {
  const pass = () => {
    const counted = tallies.take();
    if (counted.length > 0) report(counted);
  };
  const timer = setInterval(pass, WORKER_REPORT_MS).unref();
  return {
    close() {
      clearInterval(timer);
      pass();
    },
  };
}
