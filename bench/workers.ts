/**
 * What several workers cost and bring, side by side in one run: a gateway with one worker, one with two, and two
 * gateways with one worker each take turns. The two gateways share nothing, so they show what two processes cost on
 * this machine without anything that they would have to tell each other.
 *
 *   npm run bench -- workers [ROUNDS]
 *
 * Needs Linux, because it reads processor time from /proc. The upstream and the load run in this process.
 */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { cpus, loadavg } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import {
  ANSWER,
  ask as askOne,
  BODY,
  type LocalGateway,
  median,
  startLocalGateway,
} from './program/local-gateway.ts';

const ROUNDS = Number(process.argv[2] ?? 5);

const WARM_UP_ROUNDS = 6;
const CONNECTIONS = 32;
const REQUESTS = 2_000;
const SINGLE_REQUESTS = 300;
const STREAMS = 400;
const STAGGER_MS = 2_000;
const EVENTS = 100;
const EVENT_MS = 20;

const STREAM_BODY = BODY.replace('{', '{"stream":true,');

const EVENT = `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'one', choices: [{ index: 0, delta: { content: 'y' } }] })}\n\n`;
const LAST_EVENT = `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'one', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], usage: { prompt_tokens: 500, completion_tokens: EVENTS, total_tokens: 600 } })}\n\ndata: [DONE]\n\n`;

/** When each stream's first event was written, in the order of arrival. */
const firstWritten: number[] = [];

const upstream = createServer((request, response) => {
  let text = '';
  request.setEncoding('utf8').on('data', (piece: string) => {
    text += piece;
  });
  request.on('end', () => {
    if (!text.includes('"stream":true')) {
      response.writeHead(200, { 'content-type': 'application/json' }).end(ANSWER);
      return;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    let sent = 0;
    firstWritten.push(performance.now());
    response.write(EVENT);
    const timer = setInterval(() => {
      if (++sent < EVENTS) response.write(EVENT);
      else {
        clearInterval(timer);
        response.end(LAST_EVENT);
      }
    }, EVENT_MS);
    response.on('close', () => clearInterval(timer));
  });
});

/** What is measured: connections are spread over its gateways. */
interface Subject {
  readonly name: string;
  readonly gateways: readonly LocalGateway[];
}

/** Processor time of owners and of their workers so far, milliseconds. */
function processorMs({ gateways }: Subject): { readonly owners: number; readonly workers: number } {
  const all = gateways.map(processorMsOf);
  return {
    owners: all.reduce((sum, { owner }) => sum + owner, 0),
    workers: all.reduce((sum, { workers }) => sum + workers, 0),
  };
}

function processorMsOf({ child }: LocalGateway): { readonly owner: number; readonly workers: number } {
  const ofProcess = (pid: number | string) => {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
    return (Number(fields[11]) + Number(fields[12])) * 10;
  };
  const children = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').trim().split(' ');
  return {
    owner: ofProcess(child.pid ?? 0),
    workers: children.filter(Boolean).reduce((sum, pid) => sum + ofProcess(pid), 0),
  };
}

/** Sends a request to one of its gateways. */
function ask({ gateways }: Subject, body: string, connection = 0): ReturnType<typeof askOne> {
  return askOne(gateways[connection % gateways.length] as LocalGateway, body);
}

async function load(subject: Subject): Promise<void> {
  let left = REQUESTS;
  const run = async (connection: number) => {
    while (left-- > 0) await ask(subject, BODY, connection);
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, (_, connection) => run(connection)));
}

const figures = new Map<string, number[]>();
const note = (name: string, value: number) => figures.set(name, [...(figures.get(name) ?? []), value]);

const COST = 'processor time a request, microseconds';
const SINGLE = 'one request at a time, p50, ms';

async function measure(subject: Subject): Promise<void> {
  const { name } = subject;
  const before = processorMs(subject);
  await load(subject);
  await delay(300);
  const after = processorMs(subject);
  const owners = after.owners - before.owners;
  const workers = after.workers - before.workers;
  const all = owners + workers;
  note(`${name}: ${COST}`, (all * 1000) / REQUESTS);
  if (workers > 0) note(`${name}: share of the owner, percent`, (owners / all) * 100);
  const single: number[] = [];
  for (let index = 0; index < SINGLE_REQUESTS; index++) single.push((await ask(subject, BODY)).tookMs);
  note(`${name}: ${SINGLE}`, median(single));
}

/** Delay of first events of paced streams, milliseconds at the median. */
async function measureStreams(subject: Subject): Promise<void> {
  firstWritten.length = 0;
  const streams = Array.from({ length: STREAMS }, async (_, index) => {
    await delay((index * STAGGER_MS) / STREAMS);
    return (await ask(subject, STREAM_BODY, index)).firstAt;
  });
  const arrived = (await Promise.all(streams)).sort((one, other) => one - other);
  const written = [...firstWritten].sort((one, other) => one - other);
  note(
    `${subject.name}: first events of ${STREAMS} paced streams, p50, ms`,
    median(arrived.map((at, index) => at - (written[index] ?? at))),
  );
}

await new Promise<void>((resolved) => upstream.listen(0, '127.0.0.1', () => resolved()));
const { port: upstreamPort } = upstream.address() as AddressInfo;
const start = (workers: number) => startLocalGateway({ upstreamPort, workers });
const oneWorker: Subject = { name: 'one worker', gateways: [await start(1)] };
const twoGateways: Subject = { name: 'two gateways', gateways: [await start(1), await start(1)] };
const twoWorkers: Subject = { name: 'two workers', gateways: [await start(2)] };
const subjects = [oneWorker, twoGateways, twoWorkers];

/** Median of the rounds' ratios: both sides of a ratio were measured within seconds. */
function ratio(figure: string, subject: Subject, to: Subject): string {
  const base = figures.get(`${to.name}: ${figure}`) ?? [];
  const values = figures.get(`${subject.name}: ${figure}`) ?? [];
  return median(values.map((value, round) => value / (base[round] ?? Number.NaN))).toFixed(2);
}

try {
  // Each worker compiles its code for itself.
  for (let round = 0; round < WARM_UP_ROUNDS; round++) for (const subject of subjects) await load(subject);
  for (let round = 0; round < ROUNDS; round++) for (const subject of subjects) await measure(subject);
  for (let round = 0; round < Math.min(ROUNDS, 3); round++)
    for (const subject of subjects) await measureStreams(subject);
  for (const [name, values] of figures) {
    const shown = values.map((value) => value.toFixed(2)).join(', ');
    console.log(`${name.padEnd(64)} median ${median(values).toFixed(2)}  (${shown})`);
  }
  console.log(`processor time, two workers to one worker: ${ratio(COST, twoWorkers, oneWorker)}`);
  console.log(`processor time, two gateways to one worker: ${ratio(COST, twoGateways, oneWorker)}`);
  console.log(`processor time, two workers to two gateways: ${ratio(COST, twoWorkers, twoGateways)}`);
  const lowest = ({ name }: Subject) => Math.min(...(figures.get(`${name}: ${SINGLE}`) ?? []));
  console.log(`added by the owner at p50: ${(lowest(twoWorkers) - lowest(oneWorker)).toFixed(2)} ms`);
  console.log(
    `${cpus().length} cores, Node ${process.versions.node}, load average ${loadavg()[0]?.toFixed(1)}`,
  );
} finally {
  for (const gateway of subjects.flatMap(({ gateways }) => gateways)) await gateway.close();
  upstream.close();
}
