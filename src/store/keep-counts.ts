import type { Log } from '../kit/log.ts';
import type { MemoryLimiter } from './memory/memory-limiter.ts';
import type { RequestCountsFile } from './request-counts-file.ts';

/** How often the requests of the day are written down, milliseconds. */
const EVERY_MS = 10_000;

/** Writes the requests of the day down every few seconds while there are any, and at the end. */
export function keepCounts(
  limiter: MemoryLimiter,
  file: RequestCountsFile,
  log: Pick<Log, 'warn'>,
): { close(): void } {
  let written = limiter.changes;
  const write = () => {
    if (limiter.changes === written) return;
    const { changes } = limiter;
    try {
      file.write(limiter.days());
      written = changes;
    } catch (error) {
      log.warn('the requests of the day could not be written down; a restart would forget them', { error });
    }
  };
  const timer = setInterval(write, EVERY_MS);
  timer.unref();
  return {
    close() {
      clearInterval(timer);
      write();
    },
  };
}
