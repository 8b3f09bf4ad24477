import { readFileSync } from 'node:fs';
import { Agent, type IncomingMessage, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

/** What load.c is, in Node, for machines without a compiler: the same words and the same line of JSON. */
const words = new Map(
  process.argv.slice(2).map((word): [string, string] => {
    const [name = '', ...value] = word.split('=');
    return [name, value.join('=')];
  }),
);
const wordOf = (name: string) => words.get(name) ?? '';
const numberOf = (name: string, otherwise = 0) => Number(words.get(name) ?? otherwise);

const body = readFileSync(wordOf('body'));
const [requestLine = '', ...fields] = readFileSync(wordOf('head'), 'utf8').trim().split('\r\n');
const path = requestLine.split(' ')[1] ?? '/';
const keys = words.has('keys') ? readFileSync(wordOf('keys'), 'utf8').trim().split('\n') : ['none'];
const connections = numberOf('connections', 1);
const holds = numberOf('hold') === 1;
const agent = new Agent({ keepAlive: true, maxSockets: connections });

const started = performance.now();
const deadline = started + numberOf('seconds', 1) * 1000;
const latencies: number[] = [];
const firstEvents: number[] = [];
const refusals: number[] = [];
let [events, errors, nextKey, firstError] = [0, 0, numberOf('first'), ''];

function headersFor(key: string): Record<string, string> {
  const filled = fields.map((field) => field.replace('{key}', key).replace('{length}', String(body.length)));
  return Object.fromEntries(filled.map((field) => field.split(': ') as [string, string]));
}

/** One request, timed from when it was due. */
function ask(due: number): Promise<void> {
  const headers = headersFor(keys[nextKey++ % keys.length] ?? '');
  return new Promise<IncomingMessage>((resolve, reject) => {
    const options = { port: numberOf('port'), host: '127.0.0.1', method: 'POST', path, headers, agent };
    request(options, resolve).once('error', reject).end(body);
  })
    .then((response) => take(response, due))
    .catch((error: Error) => {
      if (errors++ === 0) firstError = error.message;
    });
}

async function take(response: IncomingMessage, due: number): Promise<void> {
  if (isRefusal(response)) {
    for await (const _ of response);
    refusals.push(performance.now() - due);
    return;
  }
  let [seen, ended, tail] = [0, wordOf('end') === '', ''];
  for await (const chunk of response.setEncoding('latin1')) {
    const text = tail + chunk;
    if (response.statusCode !== 200) throw new Error(`status ${response.statusCode}: ${text.slice(0, 400)}`);
    const parts = wordOf('event') === '' ? [text] : text.split(wordOf('event'));
    if (seen === 0 && parts.length > 1) firstEvents.push(performance.now() - due);
    seen += parts.length - 1;
    ended ||= text.includes(wordOf('end'));
    tail = (parts.at(-1) ?? '').slice(-63);
  }
  if (!ended) throw new Error('an answer without its end');
  if (words.has('events') && seen !== numberOf('events'))
    throw new Error(`${seen} events of ${numberOf('events')} in an answer`);
  events += seen;
  latencies.push(performance.now() - due);
}

function isRefusal({ statusCode = 0, headers }: IncomingMessage): boolean {
  return (
    numberOf('refusals') === 1 && [429, 503].includes(statusCode) && headers['retry-after'] !== undefined
  );
}

/** A connection that sends as soon as it has its answer. */
async function backToBack(index: number): Promise<void> {
  await sleep((numberOf('stagger') * index) / connections);
  if (holds) return ask(performance.now());
  while (performance.now() < deadline) await ask(performance.now());
}

async function atRate(rate: number): Promise<void> {
  const asked: Promise<void>[] = [];
  for (let index = 0; started + (index / rate) * 1000 < deadline; index++) {
    const due = started + (index / rate) * 1000;
    await sleep(Math.max(0, due - performance.now()));
    asked.push(ask(due));
  }
  await Promise.all(asked);
}

/** Keeps the streams until the input ends. */
async function hold(): Promise<void> {
  while (firstEvents.length + errors < connections && performance.now() < deadline) await sleep(50);
  console.log(JSON.stringify({ open: firstEvents.length, errors, firstError }));
  for await (const _ of process.stdin);
}

/** Microseconds. */
function percentile(values: number[], share: number): number {
  values.sort((left, right) => left - right);
  return (values[Math.floor((values.length - 1) * share)] ?? 0) * 1000;
}

const asking = words.has('rate')
  ? atRate(numberOf('rate'))
  : Promise.all(Array.from({ length: connections }, (_, index) => backToBack(index)));
await (holds ? hold() : asking);
const seconds = (performance.now() - started) / 1000;
console.log(
  JSON.stringify({
    requests: latencies.length,
    events,
    errors,
    firstError,
    seconds,
    p50: percentile(latencies, 0.5),
    p99: percentile(latencies, 0.99),
    firstP50: percentile(firstEvents, 0.5),
    firstP99: percentile(firstEvents, 0.99),
    refusals: refusals.length,
    refusalP99: percentile(refusals, 0.99),
    unsent: 0,
  }),
);
process.exit(0);
