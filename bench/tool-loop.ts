import { readFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket } from 'undici';
import { findPinning } from './compare/pinning.ts';
import { processorTime, untilQuiet } from './compare/process-cost.ts';
import { freePort, type StartedProcess, untilReady, Workbench } from './compare/workbench.ts';

/**
 * What a loop of server tools costs: streams of one leg and of ten legs with an instant tool (`datetime`), in turns.
 * Processor time of the gateway, the delay from the upstream's first piece of text to the caller, and the heap of
 * streams that stand still in their second and in their tenth leg, after a full collection. `node scripts/bench.mjs tool-loop`.
 */
const LEGS = 10;
const ROUNDS = 9;
const WARM_UP_ROUNDS = 4;
const LOOPS_PER_ROUND = 40;
const AT_ONCE = 4;
const HELD_STREAMS = 200;
const HELD_AFTER_MS = 1_000;
const MODEL = 'bench/model';
const KEY = 'a-key-for-one-run-of-the-benchmark';

const median = (values: readonly number[]) =>
  [...values].sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN;

/** The leg in which streams of text stand still; undefined = none does. */
let heldLeg: number | undefined;
let heldStreams = 0;
const held: ServerResponse[] = [];
/** When the upstream wrote the first piece of text, by the number in the question. */
const writtenAt = new Map<string, number>();

const upstream = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => answer(JSON.parse(Buffer.concat(chunks).toString()), response));
});

interface ChatRequest {
  readonly messages: readonly { readonly role: string; readonly content: unknown }[];
  readonly tools?: readonly { readonly function: { readonly name: string } }[];
}

/** Calls the tool until the last leg, which is text. */
function answer({ messages, tools }: ChatRequest, response: ServerResponse): void {
  const leg = messages.filter(({ role }) => role === 'tool').length + 1;
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  if (leg === heldLeg) {
    response.write(chunkOf({ role: 'assistant', content: 'I wait.' }));
    heldStreams += 1;
    held.push(response);
    return;
  }
  const name = tools?.[0]?.function.name;
  if (name !== undefined && leg < LEGS) {
    const call = { index: 0, id: `call_${leg}`, type: 'function', function: { name, arguments: '{}' } };
    response.end(chunkOf({ role: 'assistant', tool_calls: [call] }) + end('tool_calls'));
    return;
  }
  const question = messages.find(({ role }) => role === 'user')?.content;
  writtenAt.set(String(question), performance.now());
  response.write(chunkOf({ role: 'assistant', content: 'It' }));
  response.end(chunkOf({ content: ' is so.' }) + end('stop'));
}

function chunkOf(delta: object, finish: string | null = null, more: object = {}): string {
  const chunk = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'one' };
  return `data: ${JSON.stringify({ ...chunk, choices: [{ index: 0, delta, finish_reason: finish }], ...more })}\n\n`;
}

function end(finish: string): string {
  const usage = { prompt_tokens: 50, completion_tokens: 5, total_tokens: 55 };
  return `${chunkOf({}, finish, { usage })}data: [DONE]\n\n`;
}

let asked = 0;

/** Asks and reads to the end; milliseconds from the upstream's first piece of text to its arrival here. */
async function ask(port: number, tools: object, signal?: AbortSignal): Promise<number> {
  const question = `Question ${asked++}`;
  const response = await fetch(`http://127.0.0.1:${port}/api/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      model: MODEL,
      stream: true,
      messages: [{ role: 'user', content: question }],
      ...tools,
    }),
    ...(signal !== undefined && { signal }),
  });
  if (response.status !== 200) throw new Error(`status ${response.status}: ${await response.text()}`);
  let text = '';
  let delayMs = Number.NaN;
  const decoder = new TextDecoder();
  for await (const bytes of response.body ?? []) {
    text += decoder.decode(bytes, { stream: true });
    if (Number.isNaN(delayMs) && text.includes('"It"')) {
      delayMs = performance.now() - (writtenAt.get(question) ?? Number.NaN);
    }
  }
  if (!text.includes('is so.') || !text.includes('[DONE]')) throw new Error(`cut off: ${text.slice(-300)}`);
  return delayMs;
}

interface Round {
  /** Processor time of one request, microseconds. */
  readonly cpu: number;
  readonly delayMs: number;
}

async function round(pid: number, port: number, tools: object, requests: number): Promise<Round> {
  await untilQuiet(pid);
  const before = processorTime(pid);
  const delays: number[] = [];
  let left = requests;
  const askOn = async () => {
    while (left-- > 0) delays.push(await ask(port, tools));
  };
  await Promise.all(Array.from({ length: AT_ONCE }, askOn));
  await untilQuiet(pid);
  return { cpu: (processorTime(pid) - before) / 1000 / requests, delayMs: median(delays) };
}

/** Bytes of the gateway's heap that are in use, after a full collection. */
async function heapBytes(logFile: string): Promise<number> {
  const address = /ws:\/\/\S+/.exec(readFileSync(logFile, 'utf8'))?.[0];
  if (address === undefined) throw new Error('the gateway names no address of its inspector');
  const socket = new WebSocket(address);
  await new Promise((opened, failed) => {
    socket.addEventListener('open', opened);
    socket.addEventListener('error', failed);
  });
  const answers = new Map<number, (result: { usedSize: number }) => void>();
  socket.addEventListener('message', ({ data }) => {
    const { id, result } = JSON.parse(String(data));
    answers.get(id)?.(result);
  });
  const call = (id: number, method: string) =>
    new Promise<{ usedSize: number }>((answered) => {
      answers.set(id, answered);
      socket.send(JSON.stringify({ id, method }));
    });
  await call(1, 'HeapProfiler.collectGarbage');
  const { usedSize } = await call(2, 'Runtime.getHeapUsage');
  socket.close();
  return usedSize;
}

/** Bytes of heap that each of many streams keeps while it stands still in a leg. */
async function heldBytes(started: StartedProcess, port: number, tools: object, leg: number): Promise<number> {
  const { pid, logFile } = started;
  const before = await heapBytes(logFile);
  heldLeg = leg;
  heldStreams = 0;
  const left = new AbortController();
  let failure: unknown;
  const streams = Array.from({ length: HELD_STREAMS }, () =>
    ask(port, tools, left.signal).catch((error: unknown) => {
      failure ??= error;
    }),
  );
  while (heldStreams < HELD_STREAMS) {
    if (failure !== undefined) throw failure;
    await sleep(50);
  }
  await sleep(HELD_AFTER_MS);
  const bytes = ((await heapBytes(logFile)) - before) / HELD_STREAMS;
  heldLeg = undefined;
  left.abort();
  await Promise.all(streams);
  // The gateway ends its calls: a broken answer would put the endpoint into cool-down.
  while (held.some(({ destroyed }) => !destroyed)) await sleep(50);
  held.length = 0;
  await untilQuiet(pid);
  return bytes;
}

const workbench = new Workbench(findPinning());
try {
  await new Promise<void>((ready) => upstream.listen(0, '127.0.0.1', ready));
  const base_url = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}/v1`;
  const pricing = { prompt: '0.000001', completion: '0.000004' };
  const config = workbench.write(
    'tool-loop.yaml',
    JSON.stringify({
      providers: [{ slug: 'chat', dialect: 'openai-chat', base_url, api_key: 'bench' }],
      models: [{ id: MODEL, endpoints: [{ provider: 'chat', model: 'one', pricing }] }],
      credits: { initial_usd: 1_000_000 },
    }),
  );
  const port = await freePort();
  const flags = ['--port', String(port), '--config', config, '--data-dir', `${workbench.folder}/data`];
  const program = resolve('dist', 'cli', 'signalbox.js');
  const started = workbench.start(
    'gateway',
    [process.execPath, '--inspect=127.0.0.1:0', program, 'serve', ...flags],
    {
      place: 'tested',
      env: { SIGNALBOX_API_KEY: KEY },
    },
  );
  await untilReady('gateway', started, `http://127.0.0.1:${port}/readyz`);
  const { pid } = started;
  const tools = { tools: [{ type: 'signalbox:datetime' }] };
  const figures = { plain: [] as Round[], loop: [] as Round[] };
  for (let turn = 0; turn < WARM_UP_ROUNDS + ROUNDS; turn++) {
    const plain = await round(pid, port, {}, LOOPS_PER_ROUND * LEGS);
    const loop = await round(pid, port, tools, LOOPS_PER_ROUND);
    if (turn < WARM_UP_ROUNDS) continue;
    figures.plain.push(plain);
    figures.loop.push(loop);
  }
  const ratios = figures.loop.map(({ cpu }, index) => cpu / (figures.plain[index]?.cpu ?? Number.NaN));
  const cpuOf = (rounds: readonly Round[]) => median(rounds.map(({ cpu }) => cpu)).toFixed(0);
  const delayOf = (rounds: readonly Round[]) => median(rounds.map(({ delayMs }) => delayMs));
  console.log(
    `one leg: ${cpuOf(figures.plain)} µs, ${LEGS} legs: ${cpuOf(figures.loop)} µs of processor time`,
  );
  console.log(
    `${LEGS} legs cost ${median(ratios).toFixed(1)} (${Math.min(...ratios).toFixed(1)}..${Math.max(...ratios).toFixed(1)}) times one`,
  );
  const [plainDelay, loopDelay] = [delayOf(figures.plain), delayOf(figures.loop)];
  console.log(
    `first text: after ${plainDelay.toFixed(2)} ms with one leg, ${loopDelay.toFixed(2)} ms in leg ${LEGS} (+${(loopDelay - plainDelay).toFixed(2)} ms)`,
  );
  await heldBytes(started, port, tools, LEGS);
  for (const leg of [2, LEGS, 2, LEGS]) {
    const bytes = await heldBytes(started, port, tools, leg);
    console.log(`a stream that stands still in leg ${leg}: ${(bytes / 1024).toFixed(1)} KB of heap`);
  }
} finally {
  upstream.closeAllConnections();
  upstream.close();
  await workbench.close();
}
