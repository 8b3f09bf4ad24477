import type { LogFilter } from '../../../src/ports/events/events.ts';

/** A filter of the log that leaves nothing out but other accounts and times. */
export function logFilterOf(filter: Pick<LogFilter, 'accountId' | 'fromMs' | 'toMs'>): LogFilter {
  return {
    ...filter,
    endedFromMs: null,
    models: [],
    providers: [],
    keys: [],
    workspaces: [],
    apps: [],
    sessionIds: [],
    externalUsers: [],
    states: [],
    formats: [],
    finishReasons: [],
    errorStatuses: [],
    isStreamed: null,
    minDurationMs: null,
    maxDurationMs: null,
    minNanos: null,
    maxNanos: null,
    traceIds: [],
    search: null,
  };
}
