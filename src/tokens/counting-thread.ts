import { createRequire } from 'node:module';
import { Thread } from '../kit/thread/thread.ts';

/** Texts with one count. */
export type Slice = readonly string[];

export interface CountingThread {
  /** Tokens of each slice; rejects if the thread fails. */
  count(slices: readonly Slice[]): Promise<readonly number[]>;
  close(): Promise<void>;
}

/** Both a slice and loading the table take a fraction of a second: a slower thread is terminated. */
const TIME_LIMIT_MS = 20_000;

/** Young generation of the thread, megabytes. Small, because nothing survives a slice. */
const YOUNG_GENERATION_MB = 2;

/**
 * Starts the thread on first use and again after a failure: its table takes memory that an idle gateway should not
 * hold, and loading it would block streams.
 */
export function openCountingThread(): CountingThread {
  let thread: Thread<readonly Slice[], readonly number[]> | undefined;

  const start = () =>
    new Thread<readonly Slice[], readonly number[]>(new URL('./counting-thread-main.js', import.meta.url), {
      data: { table: createRequire(import.meta.url).resolve('gpt-tokenizer/data/o200k_base.tiktoken') },
      limits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB },
    });

  return {
    async count(slices) {
      if (thread === undefined || thread.isEnded) thread = start();
      return thread.ask(slices, { limitMs: TIME_LIMIT_MS });
    },
    async close() {
      const closing = thread;
      thread = undefined;
      await closing?.terminate();
    },
  };
}
