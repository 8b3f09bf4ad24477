import type { Cast } from './cast.ts';
import { contest, type Entrant, gatewaysOf, peer, usualEntrants } from './contest.ts';
import { SMALLEST } from './gateway-subject.ts';
import { idleStreams } from './idle-streams.ts';
import { LANES } from './lanes.ts';
import type { LoadShape } from './measure-load.ts';
import { overload } from './overload.ts';
import { planning } from './planning.ts';
import type { Scenario } from './scenario.ts';
import { measureValidation } from './validation-cost.ts';

const WHOLE = ['requestRate', 'requestCost', 'p50', 'p99'] as const;

const SMALL: LoadShape = { answer: '2k', promptBytes: 2000, connections: 32 };
const BURST: LoadShape = { answer: 'burst', promptBytes: 2000, connections: 16 };

/** Requests and answers of 2 KB. */
export const whole2k = contest({
  name: 'whole-2k',
  title: 'non-streaming, 2 KB in and 2 KB out, 32 connections',
  shape: SMALL,
  metrics: WHOLE,
  entrants: async (cast) => [
    ...(await usualEntrants(cast)),
    ...peer('nginx, connections kept', await cast.nginx('keeping')),
    ...peer('bare proxy', await cast.bareProxy()),
    ...peer('portkey', await cast.portkey()),
  ],
});

/** Streams that come at once. */
export const burst = contest({
  name: 'burst',
  title: 'streaming, 200 events at once, 16 connections',
  shape: BURST,
  metrics: ['eventRate', 'eventCost', 'firstP50'],
  entrants: async (cast) => [...(await usualEntrants(cast)), ...peer('bare proxy', await cast.bareProxy())],
});

/** Streams with and without a guardrail that reads what comes back. */
async function guardedEntrants(cast: Cast): Promise<Entrant[]> {
  const plain = await cast.gateway(SMALLEST, 'guarded');
  const elsewhere = await cast.gateway({ ...SMALLEST, guardrail: 'elsewhere' }, 'guarded');
  const guarded = await cast.gateway({ ...SMALLEST, guardrail: 'applies' }, 'guarded');
  // Each gateway serves all lanes, so that all of them are equally warm.
  return [LANES.relay, LANES.messagesToChat, LANES.responsesToMessages].flatMap((lane) => [
    { name: lane.name, subject: plain, lane },
    { name: `${lane.name}, guardrail of others`, subject: elsewhere, lane },
    { name: `${lane.name}, guarded`, subject: guarded, lane },
  ]);
}

/** Installations with few and many keys, all of them in use. */
export const keyCounts = contest({
  name: 'keys',
  title: 'relay of 2 KB with 1, 100 and 10,000 keys in use',
  // Each key was used at least once: the first use of one reads it from the database.
  coldRequests: 11_000,
  shape: SMALL,
  metrics: ['requestRate', 'requestCost'],
  entrants: (cast) =>
    gatewaysOf(cast, 'keys', {
      '1 key': SMALLEST,
      '100 keys': { ...SMALLEST, keys: 100 },
      '10,000 keys': { ...SMALLEST, keys: 10_000 },
    }),
});

/** Installations with few and many models. */
export const modelCounts = contest({
  name: 'models',
  title: 'relay of 2 KB with 10, 1,000 and 5,000 models',
  shape: SMALL,
  metrics: ['requestRate', 'requestCost'],
  entrants: (cast) =>
    gatewaysOf(cast, 'models', {
      '10 models': SMALLEST,
      '1,000 models': { ...SMALLEST, models: 1000 },
      '5,000 models': { ...SMALLEST, models: 5000 },
    }),
});

/** Checking a request against JSON.parse of it, in this process. */
export const validation: Scenario = {
  name: 'validation',
  title: 'validation of a request beside JSON.parse of it',
  run: async ({ rounds }) =>
    measureValidation(rounds * 3).map(({ name, parse, validation }) => ({
      name,
      values: { parse, validation },
    })),
};

/** Everything that `npm run bench` measures, in order. */
export const SCENARIOS: readonly Scenario[] = [
  whole2k,
  contest({
    name: 'prompt-200k',
    title: 'non-streaming, 200 KB in and 2 KB out, 16 connections',
    shape: { answer: '2k', promptBytes: 200_000, connections: 16 },
    metrics: WHOLE,
    entrants: usualEntrants,
  }),
  contest({
    name: 'answer-200k',
    title: 'non-streaming, 2 KB in and 200 KB out, 16 connections',
    shape: { answer: '200k', promptBytes: 2000, connections: 16 },
    metrics: WHOLE,
    entrants: usualEntrants,
  }),
  burst,
  contest({
    name: 'paced',
    title: '400 streams with an event every 20 ms each (20,000 events a second)',
    shape: { answer: 'paced', promptBytes: 2000, connections: 400, staggerMs: 2000, leastSeconds: 3 },
    metrics: ['eventCost', 'firstP50', 'late'],
    warmUp: BURST,
    entrants: async (cast) => [...(await usualEntrants(cast)), ...peer('bare proxy', await cast.bareProxy())],
  }),
  contest({
    name: 'latency',
    title: 'non-streaming, 2 KB, 100 requests a second',
    shape: { answer: '2k', promptBytes: 2000, connections: 64, rate: 100, leastSeconds: 2 },
    metrics: ['p50', 'p99', 'requestCost'],
    warmUp: SMALL,
    entrants: async (cast) => [
      { name: 'upstream', subject: cast.upstream, lane: LANES.relay },
      ...peer('relay', await cast.gateway()),
      ...peer('nginx', await cast.nginx()),
      ...peer('portkey', await cast.portkey()),
    ],
  }),
  contest({
    name: 'guarded',
    title: 'streaming, 200 events at once, 16 connections, with and without a guardrail',
    shape: BURST,
    metrics: ['eventCost', 'firstP50'],
    entrants: guardedEntrants,
  }),
  contest({
    name: 'guarded-paced',
    title: '100 streams with an event every 20 ms each, with and without a guardrail',
    shape: { answer: 'paced', promptBytes: 2000, connections: 100, staggerMs: 2000, leastSeconds: 3 },
    metrics: ['eventCost', 'firstP50', 'late'],
    warmUp: BURST,
    entrants: guardedEntrants,
  }),
  overload,
  idleStreams,
  keyCounts,
  modelCounts,
  validation,
  planning,
];
