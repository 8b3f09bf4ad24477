import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';
import { openTokenCounter } from './token-counter.ts';

/** Texts that are counted together. */
export type Slice = readonly string[];

/** Counts tokens in another thread, a few small slices of text at a time. */
export interface CountingThread {
  /** Tokens of each slice; rejects when the thread fails. To be called again only after it has settled. */
  count(slices: readonly Slice[]): Promise<readonly number[]>;
  close(): Promise<void>;
}

/** A slice takes a fraction of a second, and so does reading the table: a thread that takes longer is given up. */
const TIME_LIMIT_MS = 20_000;

/** What the thread makes is gone after each slice: more room for it would only stay taken, megabytes. */
const YOUNG_MB = 2;

/** Runs in the worker: counts what it is sent. */
const WORKER = `
const { parentPort, workerData } = require('node:worker_threads');
const { readFileSync } = require('node:fs');
const openTokenCounter = ${openTokenCounter};
const count = openTokenCounter(readFileSync(workerData.table));
const countAll = (texts) => texts.reduce((tokens, text) => tokens + count(text), 0);
parentPort.on('message', (slices) => parentPort.postMessage(slices.map(countAll)));
`;

/**
 * A thread that is started on first use, and again after it failed: reading its tables takes memory that an idle gateway
 * should not hold, and time that no stream should wait for.
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
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB },
    });
    started.on('message', (tokens: readonly number[]) => settle?.resolve(tokens));
    started.on('error', (error) => fail(started, error));
    started.on('exit', () => fail(started, new Error('the thread ended')));
    // The process may end while the worker waits for work.
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
