import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { loadavg } from 'node:os';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { findPinning } from './pinning.ts';
import { processorTime, untilQuiet } from './process-cost.ts';
import { freePort, untilReady, Workbench } from './workbench.ts';

/** What one of two gateways has, and the other has not. */
export interface Feature {
  /** Members of the workspace without it, and with it. */
  readonly without: object;
  readonly with: object;
  /** What the upstream writes for a request. */
  answer(body: Buffer): string;
  /** How much of the work after the answers is done; it grows by one for each request. */
  done(): number;
}

/** How requests are sent. */
export interface Pace {
  /** Requests a second. */
  readonly rate: number;
  /** Of a round. */
  readonly seconds: number;
  readonly rounds: number;
}

const KEY = `sk-sb-v1-${'be'.repeat(32)}`;
const TEXT = 'The parcel of the customer is late again, and nobody knows where it is. '.repeat(28);

/** As long as a model takes at least, milliseconds. */
const ANSWER_MS = 20;

const DONE_MS = 60_000;

/**
 * Two gateways that differ only in a feature that works after the answers, in turns, at a fixed rate: times to the end
 * of the answer, and processor time with all that the feature takes.
 */
export async function compareTwins(feature: Feature, pace: Pace): Promise<void> {
  const upstream = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = answerBody(feature.answer(Buffer.concat(chunks)));
      setTimeout(() => response.writeHead(200, { 'content-type': 'application/json' }).end(body), ANSWER_MS);
    });
  });
  const workbench = new Workbench(findPinning());
  try {
    await new Promise<void>((ready) => upstream.listen(0, '127.0.0.1', ready));
    const { port } = upstream.address() as AddressInfo;
    const without = await openTwin(workbench, 'without', port, feature.without);
    const withIt = await openTwin(workbench, 'with', port, feature.with);
    for (let round = 0; round < 1 + pace.rounds; round++) {
      for (const twin of round % 2 === 0 ? [without, withIt] : [withIt, without]) {
        const figures = await measure(twin, pace, twin === withIt ? feature : undefined);
        if (round > 0) twin.rounds.push(figures);
      }
    }
    report(without.rounds, withIt.rounds);
    console.log(`load at the end ${loadavg()[0]?.toFixed(1)}`);
  } finally {
    upstream.closeAllConnections();
    upstream.close();
    await workbench.close();
  }
}

interface Round {
  /** Milliseconds of each request. */
  readonly times: readonly number[];
  /** Processor time of a request, microseconds. */
  readonly processor: number;
}

interface Twin {
  readonly port: number;
  readonly pid: number;
  readonly rounds: Round[];
}

async function openTwin(
  workbench: Workbench,
  name: string,
  upstreamPort: number,
  members: object,
): Promise<Twin> {
  const base_url = `http://127.0.0.1:${upstreamPort}/v1`;
  const pricing = { prompt: '0.000001', completion: '0.000004' };
  const config = {
    providers: [{ slug: 'chat', dialect: 'openai-chat', base_url, api_key: 'bench' }],
    models: [{ id: 'bench/model', endpoints: [{ provider: 'chat', model: 'one', pricing }] }],
    workspaces: [{ slug: 'default', keys: [{ name: 'bench', secret: KEY }], ...members }],
  };
  const file = workbench.write(`${name}.yaml`, JSON.stringify(config));
  const port = await freePort();
  const flags = ['--port', String(port), '--config', file, '--data-dir', `${workbench.folder}/${name}`];
  const program = resolve('dist', 'cli', 'signalbox.js');
  const started = workbench.start(name, [process.execPath, program, 'serve', ...flags], { place: 'tested' });
  await untilReady(name, started, `http://127.0.0.1:${port}/readyz`);
  return { port, pid: started.pid, rounds: [] };
}

/** `feature`: what is waited for after the answers; undefined = nothing. */
async function measure(
  { port, pid }: Twin,
  { rate, seconds }: Pace,
  feature: Feature | undefined,
): Promise<Round> {
  const doneBefore = feature?.done() ?? 0;
  const before = processorTime(pid);
  const asked: Promise<number>[] = [];
  const startedAt = performance.now();
  for (let index = 0; index < rate * seconds; index++) {
    await sleep(Math.max(0, startedAt + (index * 1000) / rate - performance.now()));
    asked.push(ask(port));
  }
  const times = await Promise.all(asked);
  const until = Date.now() + DONE_MS;
  const missing = () => (feature === undefined ? 0 : times.length - (feature.done() - doneBefore));
  while (missing() > 0 && Date.now() < until) await sleep(50);
  if (missing() > 0) throw new Error(`the work after ${missing()} of ${times.length} answers was not done`);
  await untilQuiet(pid);
  return { times, processor: (processorTime(pid) - before) / 1000 / times.length };
}

async function ask(port: number): Promise<number> {
  const startedAt = performance.now();
  const response = await fetch(`http://127.0.0.1:${port}/api/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'bench/model', messages: [{ role: 'user', content: TEXT }] }),
  });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`status ${response.status}: ${text}`);
  return performance.now() - startedAt;
}

function answerBody(content: string): string {
  return JSON.stringify({
    id: 'c',
    object: 'chat.completion',
    created: 1,
    model: 'one',
    choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 500, completion_tokens: 10, total_tokens: 510 },
  });
}

function report(without: readonly Round[], withIt: readonly Round[]): void {
  for (const share of [0.5, 0.99]) {
    const of = (rounds: readonly Round[]) => rounds.map(({ times }) => quantile(times, share));
    const all = (rounds: readonly Round[]) =>
      quantile(
        rounds.flatMap(({ times }) => times),
        share,
      ).toFixed(1);
    console.log(`p${share * 100} of all: ${all(without)} ms without, ${all(withIt)} ms with it`);
    compare('  by rounds', of(without), of(withIt), 1);
  }
  const processor = (rounds: readonly Round[]) => rounds.map((round) => round.processor);
  compare('processor time of a request, µs', processor(without), processor(withIt), 0);
}

function compare(title: string, without: readonly number[], withIt: readonly number[], digits: number): void {
  const shown = (values: readonly number[]) => values.map((value) => value.toFixed(digits)).join(' ');
  const ratios = withIt.map((value, index) => value / (without[index] ?? Number.NaN));
  const spread = `${Math.min(...ratios).toFixed(2)}..${Math.max(...ratios).toFixed(2)}`;
  console.log(`${title}: ${shown(without)} without; ${shown(withIt)} with it`);
  console.log(`  ratio ${quantile(ratios, 0.5).toFixed(2)} (${spread})`);
}

function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
