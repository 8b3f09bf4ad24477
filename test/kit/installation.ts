import { join } from 'node:path';
import { type Installation, openInstallation } from '../../src/app/installation.ts';
import { systemSources } from '../../src/manage/sources.ts';
import { temporaryDirectory } from '../adapters/contracts/temporary-directory.ts';

/** A clock that moves only by hand. */
export interface HandClock {
  advance(milliseconds: number): void;
}

/** A real installation in a new directory, with a clock that the test sets. */
export async function openTestInstallation(
  initialUsd: number | null = null,
): Promise<Installation & { readonly time: HandClock; readonly dataDir: string }> {
  const directory = temporaryDirectory();
  let nowMs = 1_790_000_000_000;
  const clock = { now: () => nowMs, monotonic: () => nowMs };
  const dataDir = join(directory.path, 'data');
  const installation = await openInstallation({
    dataDir,
    keyPrefix: 'sk-sb-v1-',
    initialUsd: () => initialUsd,
    sources: { ...systemSources, clock },
  });
  return {
    ...installation,
    dataDir,
    time: {
      advance: (milliseconds) => {
        nowMs += milliseconds;
      },
    },
    async close() {
      await installation.close();
      directory.remove();
    },
  };
}
