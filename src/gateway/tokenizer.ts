import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';

/** Counts tokens of plain text. */
export interface Tokenizer {
  /** Tokens of all the texts together. */
  count(texts: readonly string[]): Promise<number>;
  close(): Promise<void>;
}

/** Runs in the worker: counts what it is sent, in order. */
const WORKER = `
const { parentPort, workerData } = require('node:worker_threads');
const { countTokens } = require(workerData.encoding);
parentPort.on('message', ({ id, texts }) => {
  let tokens = 0;
  for (const text of texts) tokens += countTokens(text);
  parentPort.postMessage({ id, tokens });
});
`;

/**
 * A tokenizer in a worker thread, started on first use: reading its tables takes memory that an idle gateway should not
 * hold, and time that no stream should wait for.
 */
export function createTokenizer(): Tokenizer {
  const waiting = new Map<number, { resolve: (tokens: number) => void; reject: (reason: unknown) => void }>();
  let worker: Worker | undefined;
  let nextId = 0;

  const fail = (reason: unknown) => {
    worker = undefined;
    for (const { reject } of waiting.values()) reject(reason);
    waiting.clear();
  };

  const start = (): Worker => {
    const encoding = createRequire(import.meta.url).resolve('gpt-tokenizer/encoding/o200k_base');
    const started = new Worker(WORKER, { eval: true, workerData: { encoding } });
    started.on('message', ({ id, tokens }: { id: number; tokens: number }) => {
      waiting.get(id)?.resolve(tokens);
      waiting.delete(id);
    });
    started.on('error', fail);
    // The process may end while the worker waits for work.
    started.unref();
    return started;
  };

  return {
    count(texts) {
      worker ??= start();
      const id = nextId++;
      const counted = new Promise<number>((resolve, reject) => waiting.set(id, { resolve, reject }));
      worker.postMessage({ id, texts });
      return counted;
    },
    async close() {
      await worker?.terminate();
      fail(new Error('the tokenizer was closed'));
    },
  };
}
