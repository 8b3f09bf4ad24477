import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { fakeGateway, PLAIN_KEY, startServer, stopServers, turnedAway } from '../../kit/http-harness.ts';

/** Connections that are open already: this server has one listening socket, which accepts them one by one. */
const CONNECTIONS = 400;

const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });

afterEach(async () => {
  agent.destroy();
  await stopServers();
});

const WORK_MS = 4;

/** A gateway that blocks its event loop for some milliseconds with every request. */
function busyGateway() {
  const { complete } = fakeGateway();
  return {
    complete: (input: Parameters<typeof complete>[0]) => {
      const endMs = performance.now() + WORK_MS;
      while (performance.now() < endMs);
      return complete(input);
    },
  };
}

interface Told {
  readonly status: number;
  readonly retryAfter: string | undefined;
  readonly timing: unknown;
  readonly body: string;
  readonly format: Format;
}

interface Format {
  readonly path: string;
  readonly body: string;
  /** What a refusal looks like. */
  readonly refusal: object;
}

const MESSAGES = '[{"role":"user","content":"hi"}]';

const FORMATS: readonly Format[] = [
  {
    path: '/api/v1/chat/completions',
    body: `{"model":"acme/large","messages":${MESSAGES}}`,
    refusal: { error: { code: 503 } },
  },
  {
    path: '/api/v1/messages',
    body: `{"model":"acme/large","max_tokens":9,"messages":${MESSAGES}}`,
    refusal: { type: 'error', error: { type: 'overloaded_error' } },
  },
  {
    path: '/api/v1/responses',
    body: '{"model":"acme/large","input":"hi"}',
    refusal: { error: { code: 503 } },
  },
];

let asked = 0;

/** In each format in turn. */
function generate(port: number): Promise<Told> {
  const format = FORMATS[asked++ % FORMATS.length] as Format;
  const headers = { authorization: `Bearer ${PLAIN_KEY}`, 'content-type': 'application/json' };
  return new Promise((resolve, reject) => {
    const asking = request({ port, agent, method: 'POST', path: format.path, headers }, (reply) => {
      let body = '';
      reply.setEncoding('utf8').on('data', (text: string) => {
        body += text;
      });
      reply.on('end', () => {
        const { 'retry-after': retryAfter, 'server-timing': timing } = reply.headers;
        resolve({ status: reply.statusCode ?? 0, retryAfter, timing, body, format });
      });
    });
    asking.on('error', reject);
    asking.end(format.body);
  });
}

/** A machine that gives this process a twentieth of a core needs nearly a minute for eight turns in four windows. */
const MAX_FLOOD_MS = 120_000;

/**
 * Sends so many requests for each one served, without waiting for other answers, until each format was refused some. No
 * more than there are connections: the rest would wait in this process, and keep the test busy after the flood.
 */
async function flood(port: number, times: number): Promise<Told[]> {
  const answers: Promise<Told>[] = [];
  const refused = new Set<Format>();
  let served = 1;
  let open = 0;
  const ask = async (): Promise<Told> => {
    open++;
    const told = await generate(port);
    open--;
    if (told.status === 200) served++;
    else refused.add(told.format);
    return told;
  };
  const endMs = performance.now() + MAX_FLOOD_MS;
  while (performance.now() < endMs && refused.size < FORMATS.length) {
    while (answers.length < served * times && open < CONNECTIONS) answers.push(ask());
    await sleep(1);
  }
  return Promise.all(answers);
}

const statuses = (told: readonly Told[]) => [...new Set(told.map(({ status }) => status))].sort();

describe('more requests than can be served', () => {
  it('wait when they come at once, and are all answered', async () => {
    const { port } = await startServer({ gateway: busyGateway() });
    const told = await Promise.all(Array.from({ length: CONNECTIONS }, () => generate(port)));
    expect(statuses(told)).toEqual([200]);
  });

  it('are refused in part, with Retry-After, while arrivals continue', async () => {
    const { port, server } = await startServer({ gateway: busyGateway() });
    await Promise.all(Array.from({ length: CONNECTIONS }, () => generate(port)));
    const told = await flood(port, 3);
    expect(statuses(told)).toEqual([200, 503]);
    const refused = told.filter(({ status }) => status === 503);
    expect(new Set(refused.map(({ format }) => format)).size).toBe(FORMATS.length);
    expect(turnedAway(server)).toEqual({ flood: refused.length, 'in-flight': 0 });
    for (const { retryAfter, timing, body, format } of refused) {
      expect(retryAfter).toBe('1');
      expect(timing).toMatch(/gateway;dur=\d/);
      expect(JSON.parse(body)).toMatchObject(format.refusal);
    }
    const some = () => Promise.all(Array.from({ length: 20 }, () => generate(port)));
    await expect.poll(async () => statuses(await some()), { interval: 250 }).toEqual([200]);
  }, 240_000);
});
