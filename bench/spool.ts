import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { loadavg } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import Database from 'libsql';
import { contentOfText, textOfContent } from '../src/store/following/spooled-content.ts';
import { findPinning } from './compare/pinning.ts';
import { processorTime, residentBytes } from './compare/process-cost.ts';
import { openSpanCounter } from './compare/span-counter.ts';
import { freePort, type StartedProcess, untilReady, Workbench } from './compare/workbench.ts';
import { ANSWER, BODY } from './program/local-gateway.ts';

/**
 * How soon a destination that was away has what was spooled for it: `node scripts/bench.mjs spool [GENERATIONS]`. One
 * generation is made by a request, and then copied with its prompt and answer.
 */
const [generations = 100_000] = process.argv.slice(2).map(Number);

const KEY = `sk-sb-v1-${'be'.repeat(32)}`;
const MANAGEMENT_KEY = `sk-sb-v1-${'ad'.repeat(32)}`;

/** Copies that are stored at once. */
const AT_ONCE = 500;

/** After that the run is given up, milliseconds. */
const LIMIT_MS = 600_000;

const workbench = new Workbench(findPinning());
const receiver = await openSpanCounter();
const upstream = createServer((request, response) => {
  request
    .resume()
    .on('end', () => response.writeHead(200, { 'content-type': 'application/json' }).end(ANSWER));
});
try {
  await new Promise<void>((ready) => upstream.listen(0, '127.0.0.1', ready));
  const base_url = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}/v1`;
  const pricing = { prompt: '0.000001', completion: '0.000004' };
  const collector = { endpoint: receiver.endpoint, protocol: 'protobuf' };
  const destinations = [{ type: 'otel-collector', name: 'Collector', config: collector }];
  const config = workbench.write(
    'signalbox.yaml',
    JSON.stringify({
      providers: [{ slug: 'local', dialect: 'openai-chat', base_url, api_key: 'bench' }],
      models: [{ id: 'local/one', endpoints: [{ provider: 'local', model: 'one', pricing }] }],
      workspaces: [{ slug: 'default', keys: [{ name: 'bench', secret: KEY }], destinations }],
    }),
  );
  const dataDir = join(workbench.folder, 'data');
  const start = async () => {
    const port = await freePort();
    const program = resolve('dist', 'cli', 'signalbox.js');
    const flags = ['--port', String(port), '--config', config, '--data-dir', dataDir];
    const started = workbench.start('gateway', [process.execPath, program, 'serve', ...flags], {
      place: 'tested',
      env: { SIGNALBOX_MANAGEMENT_KEY: MANAGEMENT_KEY },
    });
    await untilReady('gateway', started, `http://127.0.0.1:${port}/readyz`);
    return { started, url: `http://127.0.0.1:${port}/api/v1` };
  };

  receiver.setAway(true);
  const first = await start();
  await until(async () => (await stateOf(first.url)) !== null, 'the destination is not followed');
  const response = await fetch(`${first.url}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
    body: BODY,
  });
  if (response.status !== 200) throw new Error(`status ${response.status}: ${await response.text()}`);
  await until(async () => (await stateOf(first.url))?.problem != null, 'nothing was sent');
  await workbench.end(first.started);
  await copy(join(dataDir, 'signalbox.sqlite'), generations);

  const { started, url } = await start();
  await until(async () => (await stateOf(url))?.waiting === generations, 'not all wait');
  console.log(`${generations} generations wait; load ${loadavg()[0]?.toFixed(1)}`);
  await measure(started, url);
} finally {
  upstream.closeAllConnections();
  upstream.close();
  await receiver.close();
  await workbench.close();
}

async function measure({ pid }: StartedProcess, url: string): Promise<void> {
  const before = processorTime(pid);
  const startedAt = performance.now();
  receiver.setAway(false);
  let firstAt: number | undefined;
  let slowest = 0;
  const seconds = () => (performance.now() - startedAt) / 1000;
  while (receiver.taken.size < generations) {
    if (performance.now() - startedAt > LIMIT_MS) {
      throw new Error(`${receiver.taken.size} of ${generations} were sent in ten minutes`);
    }
    if (receiver.taken.size > 0) firstAt ??= seconds();
    const askedAt = performance.now();
    await stateOf(url);
    slowest = Math.max(slowest, performance.now() - askedAt);
    await sleep(100);
  }
  const took = seconds();
  const { requests, bytes } = receiver.figures;
  const processor = (processorTime(pid) - before) / 1e3 / generations;
  const sending = took - (firstAt ?? 0);
  console.log(
    `all sent ${took.toFixed(1)} s after its return, the first ${(firstAt ?? 0).toFixed(1)} s after it`,
  );
  console.log(
    `  ${Math.round(generations / sending)} a second; ${processor.toFixed(0)} µs of processor time each`,
  );
  console.log(
    `  ${requests} requests, ${Math.round(bytes / 1024 / 1024)} MB; ${receiver.count()} sent in all`,
  );
  console.log(`  other requests were answered within ${slowest.toFixed(0)} ms`);
  console.log(
    `  ${Math.round(residentBytes(pid) / 1024 / 1024)} MB of memory; load ${loadavg()[0]?.toFixed(1)}`,
  );
}

async function stateOf(url: string): Promise<{ problem: string | null; waiting: number } | null> {
  const reply = await fetch(`${url}/observability/destinations`, {
    headers: { authorization: `Bearer ${MANAGEMENT_KEY}` },
  });
  const { data } = (await reply.json()) as any;
  return data[0].state;
}

async function until(isDone: () => Promise<boolean>, otherwise: string): Promise<void> {
  const end = performance.now() + LIMIT_MS / 5;
  while (!(await isDone())) {
    if (performance.now() > end) throw new Error(otherwise);
    await sleep(100);
  }
}

/** Copies the only generation, with its prompt and answer, until there are so many. The gateway must have ended. */
async function copy(file: string, count: number): Promise<void> {
  const database = new Database(file);
  const original: any = database.prepare('select * from generations').get();
  const spooled: any = database.prepare('select * from spooled_contents').get();
  const stored = spooled && (await contentOfText(spooled.content));
  if (stored === undefined) throw new Error('its prompt and answer do not wait');
  const adding = ['generations', 'spooled_contents'].map((table, index) => {
    const columns = Object.keys(index === 0 ? original : spooled).filter((name) => name !== '_metadata');
    const places = columns.map((name) => `@${name}`).join(', ');
    return database.prepare(`insert into ${table} (${columns.join(', ')}) values (${places})`);
  });
  const [addGeneration, addContent] = adding;
  for (let from = 1; from < count; from += AT_ONCE) {
    const size = Math.min(AT_ONCE, count - from);
    const copies = Array.from({ length: size }, async (_, index) => {
      const id = `${original.id.slice(0, -6)}${String(from + index).padStart(6, '0')}`;
      return { id, content: await textOfContent({ ...stored, generationId: id }, spooled.characters) };
    });
    database.exec('begin');
    for (const { id, content } of await Promise.all(copies)) {
      addGeneration?.run({ ...original, id, settled_at_ms: Date.now() });
      addContent?.run({ ...spooled, generation_id: id, content });
    }
    database.exec('commit');
  }
  database.close();
}
