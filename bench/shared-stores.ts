/**
 * What PostgreSQL and Redis add to a request: a gateway on its own folder and one on these servers take turns, one
 * request at a time. Each key has a limit of money, which PostgreSQL keeps, and one of requests, which Redis counts.
 *
 *   DATABASE_URL=postgres://... REDIS_URL=redis://... npm run bench -- shared-stores [ROUNDS]
 *
 * Use an empty database: keys and generations are written to it. The upstream and the load run in this process.
 */
import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { cpus, loadavg } from 'node:os';
import { ANSWER, ask, BODY, type LocalGateway, median, startLocalGateway } from './program/local-gateway.ts';

const ROUNDS = Number(process.argv[2] ?? 5);
const WARM_UP_REQUESTS = 2_000;
const REQUESTS = 400;

/** Keys that take turns, so that each asks too seldom for a slice. */
const SELDOM_KEYS = 1_500;

const LIMIT_USD = 1_000_000;
const REQUESTS_PER_MINUTE = 1_000_000_000;

/** A gateway with its keys. */
interface Subject {
  readonly name: string;
  readonly gateway: LocalGateway;
  readonly often: string;
  readonly seldom: readonly string[];
}

const { DATABASE_URL, REDIS_URL } = process.env;
if (DATABASE_URL === undefined || REDIS_URL === undefined) {
  console.error('bench: shared-stores needs DATABASE_URL, of an empty database, and REDIS_URL');
  process.exit(2);
}

const upstream = createServer((request, response) => {
  request.resume().on('end', () => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(ANSWER);
  });
});
await new Promise<void>((resolved) => upstream.listen(0, '127.0.0.1', () => resolved()));
const { port: upstreamPort } = upstream.address() as AddressInfo;

async function open(name: string, stores: Readonly<Record<string, string>>): Promise<Subject> {
  const management = randomBytes(24).toString('hex');
  const gateway = await startLocalGateway({
    upstreamPort,
    env: {
      ...stores,
      SIGNALBOX_MANAGEMENT_KEY: management,
      SIGNALBOX_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
    },
    config: { limits: { per_key: { requests_per_minute: REQUESTS_PER_MINUTE } } },
  });
  const makeKey = async () => {
    const response = await fetch(`${gateway.url}/keys`, {
      method: 'POST',
      headers: { authorization: `Bearer ${management}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'bench', limit: LIMIT_USD }),
    });
    if (response.status !== 201) throw new Error(`${name} made no key: ${await response.text()}`);
    return ((await response.json()) as { readonly key: string }).key;
  };
  const often = await makeKey();
  const seldom: string[] = [];
  for (let count = 0; count < SELDOM_KEYS; count++) seldom.push(await makeKey());
  return { name, gateway, often, seldom };
}

/** Milliseconds of one request at the median. */
async function timed({ gateway }: Subject, keyAt: (request: number) => string): Promise<number> {
  const took: number[] = [];
  for (let request = 0; request < REQUESTS; request++) {
    took.push((await ask(gateway, BODY, keyAt(request))).tookMs);
  }
  return median(took);
}

const subjects = [
  await open('its own folder', {}),
  await open('PostgreSQL and Redis', { DATABASE_URL, REDIS_URL }),
] as const;
try {
  for (const { gateway, often, seldom } of subjects) {
    for (let request = 0; request < WARM_UP_REQUESTS; request++) {
      await ask(gateway, BODY, request % 2 === 0 ? often : seldom[request % SELDOM_KEYS]);
    }
  }
  const kinds = {
    'a key that asks often': ({ often }: Subject) => timedBy(() => often),
    'keys that ask seldom': ({ seldom }: Subject) =>
      timedBy((request) => seldom[request % SELDOM_KEYS] ?? ''),
  };
  for (const [kind, by] of Object.entries(kinds)) {
    const rounds: (readonly number[])[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const values: number[] = [];
      for (const subject of subjects) values.push(await by(subject)(subject));
      rounds.push(values);
    }
    console.log(`${kind}, one request at a time, p50, ms`);
    for (const [place, { name }] of subjects.entries()) {
      const values = rounds.map((round) => round[place] ?? Number.NaN);
      console.log(`  ${name.padEnd(24)} median ${shown(median(values))}  (${values.map(shown).join(', ')})`);
    }
    const added = rounds.map(([alone = Number.NaN, shared = Number.NaN]) => shared - alone);
    console.log(`  ${'added'.padEnd(24)} median ${shown(median(added))}  (${added.map(shown).join(', ')})`);
  }
  console.log(
    `${cpus().length} cores, Node ${process.versions.node}, load average ${loadavg()[0]?.toFixed(1)}`,
  );
} finally {
  for (const { gateway } of subjects) await gateway.close();
  upstream.close();
}

function timedBy(keyAt: (request: number) => string): (subject: Subject) => Promise<number> {
  return (subject) => timed(subject, keyAt);
}

function shown(value: number): string {
  return value.toFixed(2);
}
