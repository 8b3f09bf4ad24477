import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';
import { createRunFinder, createTokenCounter, openTokenTable } from './token-counter.ts';

/** Texts with one count. */
export type Slice = readonly string[];

/** Counts tokens in a worker thread. */
export interface CountingThread {
  /** Tokens of each slice; rejects if the thread fails. One call at a time. */
  count(slices: readonly Slice[]): Promise<readonly number[]>;
  close(): Promise<void>;
}

/** Both a slice and loading the table take a fraction of a second: a slower thread is terminated. */
const TIME_LIMIT_MS = 20_000;

/** Young generation of the thread, megabytes. Small, because nothing survives a slice. */
const YOUNG_GENERATION_MB = 2;

/** Program of the worker. */
const WORKER = `
const { parentPort, workerData } = require('node:worker_threads');
const { readFileSync } = require('node:fs');
const openTable = ${openTokenTable};
const createRuns = ${createRunFinder};
const createCounter = ${createTokenCounter};
const count = createCounter(openTable(readFileSync(workerData.table)), createRuns());
const countAll = (texts) => texts.reduce((tokens, text) => tokens + count(text), 0);
parentPort.on('message', (slices) => parentPort.postMessage(slices.map(countAll)));
`;

/**
 * Starts the thread on first use and again after a failure: its table takes memory that an idle gateway should not
 * hold, and loading it would block streams.
 */
export function openCountingThread(): CountingThread {
  let worker: Worker | undefined;
  let settle: { resolve: (tokens: readonly number[]) => void; reject: (reason: unknown) => void } | undefined;

  const fail = (failed: Worker | undefined, reason: unknown) => {
    if (failed === undefined || failed !== worker) return;
    worker = undefined;
    void failed.terminate();
    settle?.reject(reason);
  };

  const start = (): Worker => {
    const table = createRequire(import.meta.url).resolve('gpt-tokenizer/data/o200k_base.tiktoken');
    const started = new Worker(WORKER, {
      eval: true,
      workerData: { table },
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB },
    });
    started.on('message', (tokens: readonly number[]) => settle?.resolve(tokens));
    started.on('error', (error) => fail(started, error));
    started.on('exit', () => fail(started, new Error('the thread ended')));
    // Does not keep the process alive.
    started.unref();
    return started;
  };

  return {
    async count(slices) {
      worker ??= start();
      const asked = worker;
      const timer = setTimeout(() => fail(asked, new Error('the thread takes too long')), TIME_LIMIT_MS);
      try {
        return await new Promise<readonly number[]>((resolve, reject) => {
          settle = { resolve, reject };
          asked.postMessage(slices);
        });
      } finally {
        clearTimeout(timer);
        settle = undefined;
      }
    },
    async close() {
      const closing = worker;
      fail(closing, new Error('the thread was closed'));
      await closing?.terminate();
    },
  };
}
