import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';

/** Texts that are counted together. */
export type Slice = readonly string[];

/** Counts tokens in another thread, a few small slices of text at a time. */
export interface CountingThread {
  /** Tokens of each slice; rejects when the thread fails. To be called again only after it has settled. */
  count(slices: readonly Slice[]): Promise<readonly number[]>;
  close(): Promise<void>;
}

/** A slice takes a fraction of a second, and reading the tables about one: a thread that takes longer is given up. */
const TIME_LIMIT_MS = 20_000;

/**
 * Longer runs of characters that the tokenizer takes for one word are cut: the time to count a word grows with the square
 * of its length.
 */
const LONGEST_RUN = 32;

/** The kinds of characters that words are made of. */
const RUNS = ['[\\p{L}\\p{M}]', '[^\\s\\p{L}\\p{N}]', '\\s', '[\\r\\n/]'];

/** What the thread makes is gone after each slice: more room for it would only stay taken, megabytes. */
const YOUNG_MB = 2;

/**
 * Runs in the worker: counts what it is sent. The tables are read from the file that they are published in, as the library has
 * them: its own program text of them takes twice the memory until the thread ends. Special tokens are counted as the text that they are. To look for long runs
 * takes nearly as long as to count, and most texts have none: a long one covers one of so many places, and only those are
 * looked at first. What is no character of ASCII may be of any kind there.
 */
const WORKER = `
const { parentPort, workerData } = require('node:worker_threads');
const { readFileSync } = require('node:fs');
const { GptEncoding } = require(workerData.library);
const BYTE_ORDER_MARK = '\\uFEFF';
const UNREADABLE = '\\uFFFD';
const isWhole = (text, bytes) =>
  !text.startsWith(BYTE_ORDER_MARK) && (!text.includes(UNREADABLE) || Buffer.from(text).equals(bytes));
const readRanks = () => {
  const lines = readFileSync(workerData.ranks);
  const token = Buffer.alloc(1024);
  const ranks = [];
  for (let at = 0; at < lines.length; at = lines.indexOf(10, at) + 1) {
    const bytes = token.subarray(0, token.write(lines.latin1Slice(at, lines.indexOf(32, at)), 'base64'));
    const text = bytes.toString('utf8');
    ranks.push(isWhole(text, bytes) ? text : [...bytes]);
  }
  return ranks;
};
const { countTokens } = GptEncoding.getEncodingApi('o200k_base', readRanks);
const longRun = new RegExp(workerData.longRun, 'gu');
const isLetter = (code) => (code > 64 && code < 91) || (code > 96 && code < 123) || code > 127;
const isNeither = (code) => !(code > 47 && code < 58) && (code > 127 || !isLetter(code));
const isWithinRun = (text, at, isOfKind) => {
  let from = at;
  let to = at;
  while (from > 0 && isOfKind(text.charCodeAt(from - 1))) from--;
  while (to < text.length && isOfKind(text.charCodeAt(to))) to++;
  return to - from >= workerData.longest;
};
const mayHaveLongRun = (text) => {
  for (let at = workerData.longest - 1; at < text.length; at += workerData.longest) {
    if (isWithinRun(text, at, isLetter) || isWithinRun(text, at, isNeither)) return true;
  }
  return false;
};
const plain = { disallowedSpecial: new Set() };
const count = (text) => {
  if (!mayHaveLongRun(text)) return countTokens(text, plain);
  let tokens = 0;
  let from = 0;
  for (const run of text.matchAll(longRun)) {
    const to = run.index + run[0].length;
    tokens += countTokens(text.slice(from, to), plain);
    from = to;
  }
  return from === text.length ? tokens : tokens + countTokens(text.slice(from), plain);
};
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
    const { resolve } = createRequire(import.meta.url);
    const library = resolve('gpt-tokenizer/GptEncoding');
    const ranks = resolve('gpt-tokenizer/data/o200k_base.tiktoken');
    const longRun = RUNS.map((kind) => `${kind}{${LONGEST_RUN}}`).join('|');
    const started = new Worker(WORKER, {
      eval: true,
      workerData: { library, ranks, longRun, longest: LONGEST_RUN },
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
