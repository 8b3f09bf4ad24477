import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { memoryDirectory } from './memory-directory.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** A directory that the workers of a run share, for what is the same for many test files. */
    readonly runDirectory: string;
  }
}

/** Before the first test file: makes the directory of the run. Removes it at the end. */
export function setup({ provide }: TestProject): () => void {
  const directory = mkdtempSync(join(memoryDirectory(), 'signalbox-run-'));
  // Servers that refuse to run as root read it as another user.
  chmodSync(directory, 0o755);
  provide('runDirectory', directory);
  return () => rmSync(directory, { recursive: true, force: true });
}
