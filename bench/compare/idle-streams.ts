import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { LANES } from './lanes.ts';
import { type LoadShape, measureLoad, reportOf, startLoad } from './measure-load.ts';
import { residentBytes, untilQuiet } from './process-cost.ts';
import type { Row, Scenario, Stage } from './scenario.ts';
import type { Subject } from './subject.ts';

const STREAMS = 5000;
/** Slow enough that opening them is no test of its own. */
const OPENING_MS = 20_000;
/** Long enough that what was only needed to open them is collected. */
const HOLD_MS = 30_000;
const WARM_UP: LoadShape = { answer: 'burst', promptBytes: 2000, connections: 16 };
/** What a stream costs in memory that has begun and then says nothing. */
export const idleStreams: Scenario = {
  name: 'idle',
  title: `${STREAMS} streams that are silent after their first event: resident memory after half a minute`,
  async run(stage) {
    // A process of its own: memory that one once had it need not ask for again.
    const memory = await stage.cast.withFreshGateway((gateway) => memoryPerStream(stage, gateway));
    const rows: Row[] = [{ name: 'relay', values: { streamMemory: [memory] } }];
    const nginx = await stage.cast.nginx();
    if (nginx !== undefined)
      rows.push({ name: 'nginx', values: { streamMemory: [await memoryPerStream(stage, nginx)] } });
    return rows;
  },
};

async function memoryPerStream(stage: Stage, subject: Subject): Promise<number> {
  const { pid } = subject.process;
  await measureLoad(stage, subject, LANES.relay, WARM_UP, stage.seconds);
  const count = streamsThatFit();
  const shape: LoadShape = {
    answer: 'idle',
    promptBytes: 2000,
    connections: count,
    staggerMs: OPENING_MS,
  };
  const before = residentBytes(pid);
  const started = startLoad(stage, subject, LANES.relay, shape, ['seconds=60', 'hold=1']);
  await reportOf(started, subject);
  await sleep(HOLD_MS);
  const after = residentBytes(pid);
  started.child.stdin?.end();
  await reportOf(started, subject);
  await untilQuiet(pid);
  return (after - before) / count / 1024;
}

/** A proxy needs two connections per stream. */
function streamsThatFit(): number {
  const limit = Number(/^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1]);
  const fit = Math.floor((limit - 500) / 2);
  if (!(fit < STREAMS)) return STREAMS;
  console.error(`bench: ulimit -n is ${limit}: ${fit} idle streams instead of ${STREAMS}`);
  return fit;
}
