import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { type OtlpReceiver, openOtlpReceiver, spansIn } from '../../kit/fakes/otlp-receiver.ts';
import { postgresForTests } from '../../kit/servers/postgres-server.ts';
import { type StartedProgram, startProgram, stopped } from '../../kit/started-program.ts';

const server = await postgresForTests();

const API_KEY = 'sk-sb-v1-api-key-of-the-tests';
const MANAGEMENT_KEY = 'sk-sb-v1-management-key-of-the-tests';
const GENERATION = 'signalbox.generation.id';

const engines: [string, () => Promise<Record<string, string>>][] = [['embedded', async () => ({})]];
if (server !== undefined) {
  engines.push(['PostgreSQL', async () => ({ DATABASE_URL: await server.createDatabase() })]);
}

let receiver: OtlpReceiver;
const folders: string[] = [];
const started: StartedProgram[] = [];

beforeEach(async () => {
  receiver = await openOtlpReceiver();
});

afterEach(async () => {
  for (const { child } of started.splice(0)) await stopped(child, 'SIGKILL');
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
  await receiver.close();
});

/** A folder with a configuration that sends all generations to the receiver. */
function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-destinations-'));
  folders.push(folder);
  const collector = { type: 'otel-collector', name: 'Collector', config: { endpoint: receiver.origin } };
  const config = {
    providers: [{ slug: 'simulator' }],
    workspaces: [{ slug: 'default', destinations: [collector] }],
    metrics: { public: true },
  };
  writeFileSync(join(folder, 'signalbox.yaml'), stringify(config));
  return folder;
}

async function start(folder: string, env: Record<string, string>): Promise<StartedProgram> {
  const program = await startProgram(folder, {
    SIGNALBOX_DATA_DIR: folder,
    SIGNALBOX_API_KEY: API_KEY,
    SIGNALBOX_MANAGEMENT_KEY: MANAGEMENT_KEY,
    ...env,
  });
  started.push(program);
  return program;
}

const bearer = (key: string) => ({ authorization: `Bearer ${key}`, 'content-type': 'application/json' });

/** Asks so many times at once, and gives the ids of the generations. */
function asked({ url }: StartedProgram, times: number): Promise<string[]> {
  const body = JSON.stringify({
    model: 'simulator/standard',
    max_tokens: 20,
    messages: [{ role: 'user', content: 'Hi' }],
  });
  return Promise.all(
    Array.from({ length: times }, async () => {
      const response = await fetch(`${url}/chat/completions`, {
        method: 'POST',
        headers: bearer(API_KEY),
        body,
      });
      await response.text();
      expect(response.status).toBe(200);
      return response.headers.get('x-generation-id') ?? '';
    }),
  );
}

/** The ids of the spans of each generation: a text for each time that it was taken. */
function sendings(): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const { message } of receiver.requests) {
    const spans = spansIn(message);
    for (const root of spans.filter(({ attributes }) => attributes[GENERATION] !== undefined)) {
      const own = spans.filter((span) => span === root || span.parentSpanId === root.spanId);
      const id = root.attributes[GENERATION];
      const ids = own.map(({ traceId, spanId }) => `${traceId}/${spanId}`);
      found.set(id, [...(found.get(id) ?? []), ids.join()]);
    }
  }
  return found;
}

const missing = (ids: readonly string[]) => {
  const sent = sendings();
  return ids.filter((id) => !sent.has(id));
};

async function destinationState({ url }: StartedProgram): Promise<any> {
  const reply = await fetch(`${url}/observability/destinations`, { headers: bearer(MANAGEMENT_KEY) });
  const { data } = (await reply.json()) as any;
  return data[0]?.state;
}

/** Waits until the gateway has a place among the settled generations. */
const follows = (program: StartedProgram) =>
  expect.poll(() => destinationState(program)).toMatchObject({ problem: null });

describe.each(engines)('a gateway that is killed, %s', (_, envOf) => {
  it('loses nothing that waited, and sends the last request again with the same ids, once', async () => {
    const folder = newFolder();
    const env = await envOf();
    const first = await start(folder, env);
    await follows(first);
    receiver.answer(() => ({ status: 200, isLost: true }));
    const early = await asked(first, 20);
    // In the middle of a batch: the receiver has it, and the gateway does not know.
    await expect.poll(() => receiver.requests.length).toBe(1);
    // Recorded, and not sent yet.
    const late = await asked(first, 20);
    await stopped(first.child, 'SIGKILL');
    const before = sendings();
    expect(before.size).toBeGreaterThan(0);

    receiver.answer(() => undefined);
    const second = await start(folder, env);
    await expect.poll(() => missing([...early, ...late])).toEqual([]);
    await expect
      .poll(() => destinationState(second))
      .toMatchObject({ waiting: 0, dropped: 0, problem: null });
    const after = sendings();
    for (const [id, times] of after) {
      expect(times).toHaveLength(before.has(id) ? 2 : 1);
      expect(new Set(times).size).toBe(1);
    }

    // An orderly stop: nothing of it is sent again, and nothing is sent for ever.
    await stopped(second.child, 'SIGTERM');
    const third = await start(folder, env);
    const last = await asked(third, 3);
    await expect.poll(() => missing(last)).toEqual([]);
    const counts = [...sendings()].filter(([id]) => !last.includes(id));
    expect(counts).toEqual([...after]);
    for (const id of last) expect(sendings().get(id)).toHaveLength(1);
  });
});

if (server !== undefined) {
  it('of two gateways on one database one sends for both, and the other when it is killed', async () => {
    const env = { DATABASE_URL: await server.createDatabase() };
    const folders = [newFolder(), newFolder()] as const;
    const both = [await start(folders[0], env), await start(folders[1], env)] as const;
    const runs = async ({ url }: StartedProgram) => {
      const metrics = await (await fetch(new URL('/metrics', url))).text();
      return metrics.includes('signalbox_follower_waiting_generations{');
    };
    const sender = async (among: readonly StartedProgram[]) => {
      for (const program of among) if (await runs(program)) return program;
      return undefined;
    };
    await expect.poll(() => sender(both)).toBeDefined();
    const [one, two] = both;
    const ids = (await Promise.all([asked(one, 20), asked(two, 20)])).flat();
    await expect.poll(() => missing(ids)).toEqual([]);
    expect([...sendings().values()].map(({ length }) => length)).toEqual(ids.map(() => 1));

    const killed = (await sender(both)) as StartedProgram;
    const other = killed === one ? two : one;
    receiver.answer(() => ({ status: 200, isLost: true }));
    const came = receiver.counts.came;
    const [atKilled, atOther] = await Promise.all([asked(killed, 10), asked(other, 10)]);
    await expect.poll(() => receiver.counts.came).toBe(came + 1);
    await stopped(killed.child, 'SIGKILL');
    receiver.answer(() => undefined);
    const later = await asked(other, 10);
    await expect.poll(() => missing([...atOther, ...later])).toEqual([]);
    // What the killed gateway had only on its own disk comes with it.
    await start(folders[killed === one ? 0 : 1], env);
    await expect.poll(() => missing(atKilled)).toEqual([]);
    await expect.poll(() => destinationState(other)).toMatchObject({ waiting: 0, dropped: 0, problem: null });
    const repeated = [...sendings()].filter(([, times]) => times.length > 1);
    for (const [, times] of repeated) expect([times.length, new Set(times).size]).toEqual([2, 1]);
    expect(sendings().size).toBe(ids.length + 30);
  });
}
