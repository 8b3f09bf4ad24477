import { availableParallelism } from 'node:os';
import { cpuQuota } from './cpu-quota.ts';

/** Serving processes: a number, or one for each core. */
export type WorkerCount = number | 'auto';

export const MAX_WORKERS = 1024;

interface WorkerSettings {
  readonly runtime: { readonly workers?: WorkerCount | undefined };
  readonly config: { readonly server: { readonly workers: WorkerCount } };
}

interface Processors {
  readonly cores: number;
  /** Cores that a control group allows; undefined = all. */
  readonly quota: number | undefined;
}

const ofThisMachine = (): Processors => ({ cores: availableParallelism(), quota: cpuQuota() });

/** How many processes serve: by the flag, else by the file. 1 = the process that was started serves itself. */
export function workerCountOf({ runtime, config }: WorkerSettings, processors?: Processors): number {
  const count = runtime.workers ?? config.server.workers;
  if (count !== 'auto') return count;
  const { cores, quota = cores } = processors ?? ofThisMachine();
  return Math.min(Math.max(1, Math.floor(quota)), cores, MAX_WORKERS);
}
