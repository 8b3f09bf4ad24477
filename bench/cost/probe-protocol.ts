/** Environment variables that the probe of a gateway is started with. */
export const PROBE_ENV = {
  /** Path of the socket on which the measurement listens. */
  socket: 'SIGNALBOX_COST_SOCKET',
  /** The file of the program, from which the libraries of the databases are found. */
  program: 'SIGNALBOX_COST_PROGRAM',
  /** The file of the probe of threads. */
  threadProbe: 'SIGNALBOX_COST_THREAD_PROBE',
} as const;

/** Name under which threads find the memory of their counts, and what stands in it. */
export const SHARED_COUNTS = 'signalbox-cost';
export const SHARED_PLACES = { statements: 0 } as const;

/** First line of a probe. */
export interface ProbeGreeting {
  readonly pid: number;
  readonly isWorker: boolean;
}

/**
 * `still`: from now on the clock moves with each look at it, and timers of the background wait. `release`: they run
 * again. `flush`: runs those that wait, as if their time had come. `collect`: a full collection. `begin` starts all
 * counts from zero, with or without those that need hooks, which make objects of their own. `end` answers them.
 */
export type ProbeQuestion =
  | { readonly kind: 'still' | 'release' | 'flush' | 'collect' | 'end' }
  | { readonly kind: 'begin'; readonly hooks: boolean };

/** What a process did between `begin` and `end`. */
export interface ProcessCounts {
  readonly heapBytes: number;
  /** Garbage collections, which must be none where `heapBytes` is to be right. */
  readonly collections: number;
  /** Reads and writes of the main thread, by the system's own account. */
  readonly reads: number;
  readonly writes: number;
  readonly promises: number;
  readonly timers: number;
  readonly poolCalls: number;
  readonly syncs: number;
  readonly statements: number;
  readonly threadMessages: number;
  readonly processMessages: number;
}

export interface ProbeAnswer {
  readonly counts?: ProcessCounts;
}
