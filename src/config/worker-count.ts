import { availableParallelism } from 'node:os';

/** Serving processes: a number, or one for each core. */
export type WorkerCount = number | 'auto';

/** The highest number of serving processes. */
export const MAX_WORKERS = 1024;

/** Where the number of processes is given. */
interface WorkerSettings {
  readonly runtime: { readonly workers?: WorkerCount | undefined };
  readonly config: { readonly server: { readonly workers: WorkerCount } };
}

/** How many processes serve: by the flag, else by the file. 1 = the process that was started serves itself. */
export function workerCountOf({ runtime, config }: WorkerSettings): number {
  const count = runtime.workers ?? config.server.workers;
  return count === 'auto' ? Math.min(availableParallelism(), MAX_WORKERS) : count;
}
