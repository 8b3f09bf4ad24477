import type { Log } from '../../kit/log.ts';
import type { MemoryLimiter } from './memory-limiter.ts';
import type { RequestCountsFile } from './request-counts-file.ts';

/** How often the requests of the day are written down, milliseconds: so many may be forgotten by a crash. */
const EVERY_MS = 1_000;

/** Writes the requests of the day down every second while there are any, and at the end. */
export function keepCounts(
  limiter: MemoryLimiter,
  file: RequestCountsFile,
  log: Pick<Log, 'warn'>,
): { close(): Promise<void> } {
  let written = limiter.changes;
  let isFailing = false;
  const write = async () => {
    const { changes } = limiter;
    if (changes === written) return;
    try {
      await file.write(limiter.days());
      written = changes;
      isFailing = false;
    } catch (error) {
      if (!isFailing) {
        log.warn('the requests of the day cannot be written down; a restart would forget them', { error });
      }
      isFailing = true;
    }
  };
  let writing = Promise.resolve();
  const timer = setInterval(() => {
    writing = writing.then(write);
  }, EVERY_MS).unref();
  return {
    async close() {
      clearInterval(timer);
      await writing.then(write);
    },
  };
}
