import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';

/** Counts tokens of plain text. */
export interface Tokenizer {
  /** Tokens of all the texts together. */
  count(texts: readonly string[]): Promise<number>;
  close(): Promise<void>;
}

/** Characters that are counted at most; the rest is taken to be like them. Bounds the time that one count can take. */
const COUNTED_CHARACTERS = 400_000;

/** Longer runs without a blank are cut: the time to count a run grows with the square of its length. */
const LONGEST_RUN = 500;

/** Characters of a token where counting itself fails. */
const CHARACTERS_PER_TOKEN = 4;

/** Runs in the worker: counts what it is sent, in order. Special tokens are counted as the text that they are. */
const WORKER = `
const { parentPort, workerData } = require('node:worker_threads');
const { countTokens } = require(workerData.encoding);
const longRun = new RegExp('\\\\S{' + workerData.longestRun + '}', 'g');
const plain = { disallowedSpecial: new Set() };
parentPort.on('message', ({ id, texts }) => {
  let tokens = 0;
  for (const text of texts) {
    try {
      tokens += countTokens(text.replace(longRun, '$& '), plain);
    } catch {
      tokens += Math.ceil(text.length / workerData.charactersPerToken);
    }
  }
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
    const started = new Worker(WORKER, {
      eval: true,
      workerData: { encoding, longestRun: LONGEST_RUN, charactersPerToken: CHARACTERS_PER_TOKEN },
    });
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
    async count(texts) {
      const { sample, factor } = sampleOf(texts);
      worker ??= start();
      const id = nextId++;
      const counted = new Promise<number>((resolve, reject) => waiting.set(id, { resolve, reject }));
      worker.postMessage({ id, texts: sample });
      return Math.ceil((await counted) * factor);
    },
    async close() {
      await worker?.terminate();
      fail(new Error('the tokenizer was closed'));
    },
  };
}

/** The beginning of the texts, and how many times as long they are as it. */
function sampleOf(texts: readonly string[]): { sample: string[]; factor: number } {
  const sample: string[] = [];
  let left = COUNTED_CHARACTERS;
  let length = 0;
  for (const text of texts) {
    length += text.length;
    if (left > 0) sample.push(text.slice(0, left));
    left -= text.length;
  }
  return { sample, factor: Math.max(1, length / COUNTED_CHARACTERS) };
}
