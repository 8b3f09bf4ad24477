import { Agent, request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../../../adapters/contracts/temporary-directory.ts';
import { postgresForTests } from '../../../kit/servers/postgres-server.ts';
import { type StartedProgram, startProgram, stopped } from '../../../kit/started-program.ts';

const ROUNDS = Number(process.env.ROLLING_ROUNDS ?? 5);
const GATEWAYS = 3;
const CALLERS = 6;
const KEY = 'sk-sb-v1-key-of-the-rolling-restart';

/** How often the balancer asks each gateway whether it is ready: several times within the grace of two seconds. */
const PROBE_MS = 250;

const server = await postgresForTests();

/** A gateway as the balancer sees it. */
interface Backend {
  program: StartedProgram;
  isReady: boolean;
  agent: Agent;
}

describe.skipIf(server === undefined)('a rolling restart of gateways that share PostgreSQL', () => {
  let temporary: ReturnType<typeof temporaryDirectory>;
  let backends: Backend[];
  let isOver: boolean;

  beforeEach(() => {
    temporary = temporaryDirectory();
    backends = [];
    isOver = false;
  });

  afterEach(async () => {
    isOver = true;
    await Promise.all(backends.map(({ program }) => stopped(program.child, 'SIGKILL')));
    temporary.remove();
  });

  const start = (index: number, url: string) =>
    startProgram(temporary.path, {
      DATABASE_URL: url,
      SIGNALBOX_API_KEY: KEY,
      SIGNALBOX_MANAGEMENT_KEY: `${KEY}-management`,
      SIGNALBOX_DATA_DIR: `${temporary.path}/data-${index}`,
      SIGNALBOX_ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
    });

  /** The status of a reply that was read to its end; rejects if the connection fails. */
  const send = ({ program, agent }: Backend, path: string, body?: object): Promise<number> =>
    new Promise((resolve, reject) => {
      const asked = request(
        new URL(program.url).origin + path,
        {
          agent,
          method: body === undefined ? 'GET' : 'POST',
          headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
        },
        (reply) => {
          reply.on('error', reject);
          reply.on('end', () => resolve(reply.statusCode ?? 0));
          reply.resume();
        },
      );
      asked.on('error', reject);
      asked.end(body === undefined ? undefined : JSON.stringify(body));
    });

  const probe = async () => {
    while (!isOver) {
      for (const backend of backends) {
        const status = await send(backend, '/readyz').catch(() => 0);
        backend.isReady = status === 200;
      }
      await delay(PROBE_MS);
    }
  };

  it('refuses and cuts off nobody', async () => {
    const url = (await server?.createDatabase()) ?? '';
    for (let index = 0; index < GATEWAYS; index++) {
      const agent = new Agent({ keepAlive: true });
      backends.push({ program: await start(index, url), isReady: true, agent });
    }
    const probing = probe();
    const outcomes = new Map<string, number>();
    const call = async () => {
      for (let turn = 0; !isOver; turn++) {
        const ready = backends.filter(({ isReady }) => isReady);
        const backend = ready[turn % ready.length];
        if (backend === undefined) throw new Error('no gateway is ready');
        const body = { model: 'simulator/standard', input: 'hello', stream: turn % 2 === 0 };
        const outcome = await send(backend, '/api/v1/responses', body).then(String, (error) =>
          String(error.code),
        );
        outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
        await delay(10);
      }
    };
    const calling = Array.from({ length: CALLERS }, call);
    for (let round = 0; round < ROUNDS; round++) {
      for (const [index, backend] of backends.entries()) {
        expect(await stopped(backend.program.child, 'SIGTERM')).toBe(0);
        backend.program = await start(index, url);
        await expect.poll(() => backend.isReady).toBe(true);
      }
    }
    isOver = true;
    await Promise.all([...calling, probing]);
    process.stderr.write(`${ROUNDS} rolling restarts of ${GATEWAYS}: ${JSON.stringify([...outcomes])}\n`);
    expect([...outcomes.keys()]).toEqual(['200']);
  });
});
