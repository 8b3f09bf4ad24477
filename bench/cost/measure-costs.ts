import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { diskFilesIn } from '../../src/store/journal/disk-files.ts';
import { bytesOfFrame } from '../../src/store/journal/frame.ts';
import { readJournal } from '../../src/store/journal/read-journal.ts';
import { FORMATS } from '../compare/lanes.ts';
import { requestBody } from '../compare/request-body.ts';
import { type LocalGateway, startLocalGateway } from '../program/local-gateway.ts';
import { CASES, type CostCase, configuration, GATEWAYS, KEYS, modelOf } from './cases.ts';
import { type Costs, type CostTable, rounded } from './cost-table.ts';
import type { ProcessCounts } from './probe-protocol.ts';
import { type Probe, Probes } from './probes.ts';
import { requestBytes, SteadyCaller } from './steady-caller.ts';
import { openSteadyUpstream, type SteadyUpstream } from './steady-upstream.ts';
import { SystemCalls } from './system-calls.ts';
import { untilAsleep } from './until-asleep.ts';

/**
 * Without helper threads V8 does all its work where it is caused. A young generation that holds all requests of a
 * window is not collected within it.
 */
const NODE_FLAGS = ['--single-threaded', '--min-semi-space-size=128', '--max-semi-space-size=128'];

/**
 * Without an optimizing compiler a piece of code makes the same objects each time it runs, whenever V8 would have
 * compiled it.
 */
const UNCOMPILED_FLAGS = [
  '--no-opt',
  ...(Number(process.versions.node.split('.')[0]) > 20 ? ['--no-maglev'] : []),
];

/**
 * Windows in which the heap is measured. The least of them counts: in some of them a table grows, or V8 notes a type
 * that it had not seen before.
 */
const HEAP_WINDOWS = 6;

/**
 * Requests before anything is counted, until V8 has compiled nearly all that runs, and of each window: for the heap,
 * for counts, for system calls.
 */
interface Repetitions {
  readonly warmUp: number;
  readonly compile: number;
  readonly heap: number;
  readonly counts: number;
  readonly calls: number;
}

const REPETITIONS: Record<CostCase['delivery'], Repetitions> = {
  whole: { warmUp: 60, compile: 2500, heap: 6, counts: 20, calls: 10 },
  stream: { warmUp: 25, compile: 250, heap: 3, counts: 10, calls: 10 },
  burst: { warmUp: 40, compile: 250, heap: 4, counts: 10, calls: 10 },
};

/** How often held timers are run after a window: one may set another. */
const FLUSHES = 3;

/** Requests after which rows and events are stored while code is compiled. */
const BETWEEN_FLUSHES = 250;

/** System calls that wait: how many there are depends on who else has the cores. */
const WAITS = /^(epoll_|futex|restart_syscall|sched_)/;

const PROMPT_BYTES = 2_000;

/** Counts what a request of each case costs the built program, one request after the other. */
export async function measureCosts(cases: readonly CostCase[] = CASES): Promise<CostTable> {
  const upstream = await openSteadyUpstream();
  const table: Record<string, Costs> = {};
  try {
    for (const gateway of Object.keys(GATEWAYS) as CostCase['gateway'][]) {
      const ofGateway = cases.filter((one) => one.gateway === gateway);
      if (ofGateway.length > 0) Object.assign(table, await measureGateway(gateway, ofGateway, upstream));
    }
  } finally {
    upstream.close();
  }
  return table;
}

async function measureGateway(
  name: CostCase['gateway'],
  cases: readonly CostCase[],
  upstream: SteadyUpstream,
): Promise<CostTable> {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-cost-'));
  const probes = await Probes.open(folder);
  const { workers, isCompiled, ...parts } = GATEWAYS[name];
  const gateway = await startLocalGateway({
    upstreamPort: upstream.port,
    workers,
    config: configuration(upstream.port, parts),
    nodeFlags: [...NODE_FLAGS, ...(isCompiled ? [] : UNCOMPILED_FLAGS), ...probes.nodeFlags],
    env: probes.env,
  });
  const caller = new SteadyCaller(gateway.url);
  try {
    const bench = new CostBench(gateway, probes, caller, upstream, folder);
    await bench.still();
    const table: Record<string, Costs> = {};
    for (const one of cases) Object.assign(table, await bench.measure(one));
    await probes.ask({ kind: 'release' });
    return table;
  } finally {
    caller.close();
    await gateway.close();
    probes.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Bytes of a window; infinite if garbage was collected within it. */
function heapOf({ heapBytes, collections }: ProcessCounts): number {
  return collections === 0 ? heapBytes : Number.POSITIVE_INFINITY;
}

/** A running gateway that is measured. */
class CostBench {
  readonly #gateway: LocalGateway;
  readonly #probes: Probes;
  readonly #caller: SteadyCaller;
  readonly #upstream: SteadyUpstream;
  readonly #folder: string;

  constructor(
    gateway: LocalGateway,
    probes: Probes,
    caller: SteadyCaller,
    upstream: SteadyUpstream,
    folder: string,
  ) {
    this.#gateway = gateway;
    this.#probes = probes;
    this.#caller = caller;
    this.#upstream = upstream;
    this.#folder = folder;
  }

  async still(): Promise<void> {
    await this.#asleep();
    await this.#probes.ask({ kind: 'still' });
  }

  /** The costs of the process that serves a request, and of its owner if it is a worker. */
  async measure(one: CostCase): Promise<CostTable> {
    const { warmUp, compile, heap, counts, calls } = REPETITIONS[one.delivery];
    const send = (times: number) => this.#send(one, times, () => this.#asleep());
    await send(warmUp);
    await this.#flush();

    await this.#probes.ask({ kind: 'collect' });
    await this.#asleep();
    // A collection discards compiled code, so this comes after it.
    if (GATEWAYS[one.gateway].isCompiled) await this.#compile(one, compile);
    const windows: Map<Probe, ProcessCounts | undefined>[] = [];
    while (windows.length < HEAP_WINDOWS) {
      await this.#probes.ask({ kind: 'begin', hooks: false });
      await this.#asleep();
      await send(heap);
      windows.push(await this.#end());
    }
    await this.#flush();

    const journalBefore = await this.#journal();
    await this.#probes.ask({ kind: 'begin', hooks: true });
    await this.#asleep();
    await send(counts);
    const onTheWay = await this.#end();
    const journal = await this.#journal();

    await this.#probes.ask({ kind: 'begin', hooks: true });
    await this.#flush();
    const afterwards = await this.#end();

    const table: Record<string, Costs> = {};
    for (const probe of this.#probes.all) {
      const [way, after] = [onTheWay, afterwards].map((all) => all.get(probe));
      if (way === undefined || after === undefined || way.promises < counts) continue;
      const heapBytes = windows.flatMap((all) => all.get(probe) ?? []).map(heapOf);
      const isOwner = !probe.isWorker;
      const name = isOwner && one.gateway === 'workers' ? `${one.name}: its owner` : one.name;
      // Opens again what the flush may have closed.
      await send(1);
      const systemCalls = await this.#systemCalls(probe, () => send(calls), calls);
      table[name] = rounded({
        heapKb: Math.min(...heapBytes) / 1024 / heap,
        promises: way.promises / counts,
        timers: way.timers / counts,
        poolCalls: way.poolCalls / counts,
        reads: way.reads / counts,
        writes: way.writes / counts,
        syncs: way.syncs / counts,
        ...(isOwner && {
          journalRecords: (journal.records - journalBefore.records) / counts,
          journalBytes: (journal.bytes - journalBefore.bytes) / counts,
        }),
        statements: (way.statements + after.statements) / counts,
        threadMessages: (way.threadMessages + after.threadMessages) / counts,
        processMessages: way.processMessages / counts,
        ...(systemCalls !== undefined && { systemCalls }),
      });
    }
    await this.#flush();
    return table;
  }

  /** Sends requests, and calls `between` after each. */
  async #send(one: CostCase, times: number, between: () => unknown): Promise<void> {
    const request = this.#requestOf(one);
    for (let index = 0; index < times; index++) {
      await this.#caller.send(request, one.delivery === 'stream' ? this.#upstream.next : () => {});
      await between();
    }
  }

  /** Lets V8 compile what a request runs; rows and events are stored from time to time, as in production. */
  async #compile(one: CostCase, times: number): Promise<void> {
    for (let left = times; left > 0; left -= BETWEEN_FLUSHES) {
      await this.#send(one, Math.min(left, BETWEEN_FLUSHES), () => {});
      await this.#flush();
    }
  }

  #requestOf({ lane, delivery, key, ...one }: CostCase): Buffer {
    const model = modelOf({ lane, delivery, key, ...one });
    const body = requestBody(lane, model, delivery === 'whole' ? '2k' : 'paced', PROMPT_BYTES);
    return requestBytes(`${this.#gateway.url.pathname}${FORMATS[lane.format].path}`, KEYS[key], body);
  }

  #asleep(): Promise<void> {
    return untilAsleep(this.#probes.all.map(({ pid }) => pid));
  }

  async #flush(): Promise<void> {
    for (let flush = 0; flush < FLUSHES; flush++) {
      await this.#probes.ask({ kind: 'flush' });
      await this.#asleep();
    }
  }

  async #end(): Promise<Map<Probe, ProcessCounts | undefined>> {
    const answers = await this.#probes.ask({ kind: 'end' });
    await this.#asleep();
    return new Map(this.#probes.all.map((probe, index) => [probe, answers[index]?.counts]));
  }

  /** Records of the journal so far, and their bytes. */
  async #journal(): Promise<{ readonly records: number; readonly bytes: number }> {
    let [records, bytes] = [0, 0];
    await readJournal(diskFilesIn(join(this.#gateway.folder, 'data', 'journal')), ({ record }) => {
      records += 1;
      bytes += bytesOfFrame(record);
    });
    return { records, bytes };
  }

  async #systemCalls(
    { pid }: Probe,
    send: () => Promise<void>,
    times: number,
  ): Promise<Costs['systemCalls'] | undefined> {
    const calls = await SystemCalls.begin(pid, join(this.#folder, 'system-calls'));
    if (calls === undefined) return undefined;
    await send();
    const counted = Object.entries(await calls.end());
    const each = counted.map(([kind, count]) => [kind, Math.floor(count / times)] as const);
    return Object.fromEntries(each.filter(([kind, count]) => count > 0 && !WAITS.test(kind)));
  }
}
