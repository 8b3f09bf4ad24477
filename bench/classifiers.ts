import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { findPinning } from './compare/pinning.ts';
import { processorTime } from './compare/process-cost.ts';
import { freePort, untilReady, Workbench } from './compare/workbench.ts';

/**
 * What an active classifier at a sample of 100 % does to requests: two gateways that differ only in whether it is
 * active, in turns, at a fixed rate. Times to the end of the answer, and processor time with that of the classifier.
 * `node scripts/bench.mjs classifiers [RATE] [SECONDS] [ROUNDS]`.
 */
const [rate = 20, seconds = 10, rounds = 6] = process.argv.slice(2).map(Number);

const KEY = `sk-sb-v1-${'be'.repeat(32)}`;
const TEXT = 'The parcel of the customer is late again, and nobody knows where it is. '.repeat(28);
const VERDICT = JSON.stringify({ q1: { choice: 'shipping', confidence: 1 } });

/** Requests of classifiers that the upstream has answered. */
let classified = 0;

const upstream = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const isClassifier = Buffer.concat(chunks).includes('response_format');
    if (isClassifier) classified += 1;
    const message = { role: 'assistant', content: isClassifier ? VERDICT : 'It comes tomorrow.' };
    const usage = { prompt_tokens: 500, completion_tokens: 10, total_tokens: 510 };
    const choices = [{ index: 0, message, finish_reason: 'stop' }];
    const body = JSON.stringify({
      id: 'c',
      object: 'chat.completion',
      created: 1,
      model: 'one',
      choices,
      usage,
    });
    // As long as a model takes at least.
    setTimeout(() => {
      response.writeHead(200, { 'content-type': 'application/json' }).end(body);
    }, 20);
  });
});

const quantile = (values: readonly number[], share: number) =>
  [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ??
  Number.NaN;

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

/** Requests at the fixed rate, however long each takes: milliseconds of each. */
async function paced(port: number): Promise<number[]> {
  const asked: Promise<number>[] = [];
  const startedAt = performance.now();
  for (let index = 0; index < rate * seconds; index++) {
    await sleep(Math.max(0, startedAt + (index * 1000) / rate - performance.now()));
    asked.push(ask(port));
  }
  return Promise.all(asked);
}

const workbench = new Workbench(findPinning());
try {
  await new Promise<void>((ready) => upstream.listen(0, '127.0.0.1', ready));
  const base_url = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}/v1`;
  const pricing = { prompt: '0.000001', completion: '0.000004' };
  const open = async (name: string, is_active: boolean) => {
    const values = [{ value: 'billing' }, { value: 'shipping' }];
    const topics = {
      name: 'Topics',
      is_active,
      model: 'bench/model',
      dimensions: [{ name: 'topic', values }],
    };
    const config = workbench.write(
      `${name}.yaml`,
      JSON.stringify({
        providers: [{ slug: 'chat', dialect: 'openai-chat', base_url, api_key: 'bench' }],
        models: [{ id: 'bench/model', endpoints: [{ provider: 'chat', model: 'one', pricing }] }],
        workspaces: [{ slug: 'default', keys: [{ name: 'bench', secret: KEY }], classifiers: [topics] }],
      }),
    );
    const port = await freePort();
    const flags = ['--port', String(port), '--config', config, '--data-dir', `${workbench.folder}/${name}`];
    const program = resolve('dist', 'cli', 'signalbox.js');
    const started = workbench.start(name, [process.execPath, program, 'serve', ...flags], {
      place: 'tested',
    });
    await untilReady(name, started, `http://127.0.0.1:${port}/readyz`);
    return { port, pid: started.pid, times: [] as number[][], cpu: [] as number[] };
  };
  const without = await open('without', false);
  const withOne = await open('with', true);
  for (let round = 0; round < 1 + rounds; round++) {
    for (const gateway of round % 2 === 0 ? [without, withOne] : [withOne, without]) {
      const before = classified;
      const cpuBefore = processorTime(gateway.pid);
      const times = await paced(gateway.port);
      const until = Date.now() + 60_000;
      while (gateway === withOne && classified - before < times.length && Date.now() < until) await sleep(50);
      if (gateway === withOne && classified - before < times.length) {
        throw new Error(`only ${classified - before} of ${times.length} were classified`);
      }
      if (round === 0) continue;
      gateway.times.push(times);
      gateway.cpu.push((processorTime(gateway.pid) - cpuBefore) / 1000 / times.length);
    }
  }
  for (const share of [0.5, 0.99]) {
    const of = ({ times }: typeof without) => times.map((each) => quantile(each, share));
    const [plain, busy] = [of(without), of(withOne)];
    const ratios = busy.map((value, index) => value / (plain[index] ?? Number.NaN));
    const shown = (values: readonly number[]) => values.map((value) => value.toFixed(1)).join(' ');
    console.log(`p${share * 100} without: ${shown(plain)} ms; with: ${shown(busy)} ms`);
    const all = (gateway: typeof without) => quantile(gateway.times.flat(), share).toFixed(1);
    console.log(
      `  of all: ${all(without)} and ${all(withOne)} ms; ratio ${quantile(ratios, 0.5).toFixed(2)}`,
    );
    console.log(`  (${Math.min(...ratios).toFixed(2)}..${Math.max(...ratios).toFixed(2)})`);
  }
  const cpu = [without, withOne].map((gateway) => quantile(gateway.cpu, 0.5).toFixed(0));
  console.log(
    `processor time of a request: ${cpu[0]} µs without, ${cpu[1]} µs with all that classifying takes`,
  );
} finally {
  upstream.closeAllConnections();
  upstream.close();
  await workbench.close();
}
