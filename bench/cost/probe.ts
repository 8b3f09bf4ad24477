import { createHook } from 'node:async_hooks';
import cluster from 'node:cluster';
import fs, { readFileSync } from 'node:fs';
import { createRequire, syncBuiltinESMExports } from 'node:module';
import { connect } from 'node:net';
import { PerformanceObserver } from 'node:perf_hooks';
import { DefaultSerializer, getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { setEnvironmentData, Worker as Thread } from 'node:worker_threads';
import { countStatements } from './count-statements.ts';
import {
  PROBE_ENV,
  type ProbeAnswer,
  type ProbeGreeting,
  type ProbeQuestion,
  SHARED_COUNTS,
  SHARED_PLACES,
} from './probe-protocol.ts';
import { stillTime } from './still-time.ts';

// Loaded with `--import` into a gateway and its workers: counts what the process does between two questions of the
// measurement. Nothing here makes objects while the heap is measured.

/** What libuv does in its pool, by the names of async_hooks. */
const POOL_CALLS = new Set([
  'FSREQCALLBACK',
  'FSREQPROMISE',
  'FILEHANDLECLOSEREQ',
  'GETADDRINFOREQWRAP',
  'GETNAMEINFOREQWRAP',
  'RANDOMBYTESREQUEST',
  'PBKDF2REQUEST',
  'SCRYPTREQUEST',
  'HASHREQUEST',
  'HKDFREQUEST',
  'SIGNREQUEST',
  'CIPHERREQUEST',
  'DERIVEBITSREQUEST',
  'KEYGENREQUEST',
  'ZLIB',
]);

const own = import.meta.url;
const environment = (name: keyof typeof PROBE_ENV): string => process.env[PROBE_ENV[name]] ?? '';

const counts = {
  collections: 0,
  promises: 0,
  poolCalls: 0,
  syncs: 0,
  threadMessages: 0,
  processMessages: 0,
};

const shared = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
const sharedCounts = new Int32Array(shared);
setEnvironmentData(SHARED_COUNTS, shared as never);
countStatements(sharedCounts);

const threads = createRequire(own)('node:worker_threads');
threads.Worker = class extends Thread {
  constructor(file: string | URL, options: ConstructorParameters<typeof Thread>[1] = {}) {
    super(file, {
      ...options,
      execArgv: [...(options.execArgv ?? []), '--require', environment('threadProbe')],
    });
  }

  override postMessage(...args: Parameters<Thread['postMessage']>): void {
    counts.threadMessages += 1;
    super.postMessage(...args);
  }
};

// Workers and their owner send lists of messages.
const writeValue = DefaultSerializer.prototype.writeValue;
DefaultSerializer.prototype.writeValue = function (value: unknown) {
  counts.processMessages += Array.isArray(value) ? value.length : 1;
  return writeValue.call(this, value);
};

for (const name of ['fsync', 'fdatasync', 'fsyncSync', 'fdatasyncSync'] as const) {
  const sync = fs[name] as (...args: unknown[]) => unknown;
  (fs as unknown as Record<string, unknown>)[name] = (...args: unknown[]) => {
    counts.syncs += 1;
    return sync(...args);
  };
}

const time = stillTime();
syncBuiltinESMExports();

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;
new PerformanceObserver((list) => {
  counts.collections += list.getEntries().length;
}).observe({ entryTypes: ['gc'] });

const hooks = createHook({
  init(_id, type) {
    if (type === 'PROMISE') counts.promises += 1;
    else if (POOL_CALLS.has(type)) counts.poolCalls += 1;
  },
});

/** Reads and writes of the main thread so far. */
function transfers(): { readonly reads: number; readonly writes: number } {
  const text = readFileSync(`/proc/self/task/${process.pid}/io`, 'utf8');
  const of = (name: string) => Number(new RegExp(`${name}: (\\d+)`).exec(text)?.[1]);
  return { reads: of('syscr'), writes: of('syscw') };
}

let begun = { heapBytes: 0, statements: 0, timers: 0, ...transfers() };

function begin(withHooks: boolean): void {
  for (const name of Object.keys(counts) as (keyof typeof counts)[]) counts[name] = 0;
  const statements = Atomics.load(sharedCounts, SHARED_PLACES.statements);
  begun = { statements, timers: time.timers, ...transfers(), heapBytes: 0 };
  if (withHooks) hooks.enable();
  begun.heapBytes = getHeapStatistics().used_heap_size;
}

function end(): ProbeAnswer {
  const heapBytes = getHeapStatistics().used_heap_size - begun.heapBytes;
  hooks.disable();
  const timers = time.timers - begun.timers;
  const { reads, writes } = transfers();
  const statements = Atomics.load(sharedCounts, SHARED_PLACES.statements) - begun.statements;
  return {
    counts: {
      ...counts,
      heapBytes,
      timers,
      statements,
      reads: reads - begun.reads,
      writes: writes - begun.writes,
    },
  };
}

function answer(question: ProbeQuestion): ProbeAnswer {
  if (question.kind === 'end') return end();
  if (question.kind === 'begin') begin(question.hooks);
  else if (question.kind === 'collect') collect();
  else time[question.kind]();
  return {};
}

const link = connect(environment('socket'));
link.unref();
let text = '';
link.setEncoding('utf8').on('data', (piece: string) => {
  text += piece;
  if (!text.endsWith('\n')) return;
  const question = JSON.parse(text) as ProbeQuestion;
  text = '';
  link.write(`${JSON.stringify(answer(question))}\n`);
});
link.on('error', () => {});
const greeting: ProbeGreeting = { pid: process.pid, isWorker: cluster.isWorker };
link.write(`${JSON.stringify(greeting)}\n`);
