import { describe, expect, it } from 'vitest';
import type { Explanation, RoutingMetadata } from '../../api/contract.ts';
import { compareRoutes, markedStops } from './compare-routes.ts';
import { stopsOfExplanation, stopsOfRecord } from './route-stops.ts';

const MODEL = 'acme/large';

function candidate(rank: number, provider: string, health: object = {}): Explanation['candidates'][number] {
  return {
    rank,
    provider,
    tag: provider.toLowerCase(),
    model: MODEL,
    credential: 'shared',
    lane: 'relay',
    price: { prompt: '0.000002', completion: '0.00001' },
    weight: null,
    sticky: false,
    health: { state: 'ok', failures: 0, latency_p50_ms: null, throughput_p50: null, ...health },
    translation: [],
  };
}

const NOW: Explanation = {
  requested: MODEL,
  strategy: 'direct',
  candidates: [candidate(1, 'North'), candidate(2, 'South', { state: 'cooling', retry_after_seconds: 42 })],
  rejected: [
    { provider: 'West', tag: 'west', model: MODEL, filter: 'data_collection', reason: 'It trains.' },
  ],
  estimate: { prompt_tokens: 1, max_output_tokens: 2, max_cost_usd: 0.1 },
};

const THEN: RoutingMetadata = {
  requested: MODEL,
  strategy: 'direct',
  region: 'local',
  summary: '',
  attempt: 2,
  is_byok: false,
  endpoints: {
    total: 2,
    available: [
      { provider: 'West', model: MODEL, selected: false },
      { provider: 'South', model: MODEL, selected: true },
    ],
  },
  attempts: [
    { provider: 'West', model: MODEL, status: 529 },
    { provider: 'South', model: MODEL, status: 200 },
  ],
};

describe('stops', () => {
  it('of an explanation: the first candidate serves, others are spare, rejected ones are off', () => {
    expect(stopsOfExplanation(NOW)).toMatchObject([
      { kind: 'via', title: `Asked for ${MODEL}` },
      { kind: 'served', title: 'north', aside: '$2.00 / $10.00' },
      { kind: 'spare', title: 'south', aside: 'cooling down 42 s' },
      { kind: 'off', title: 'west', aside: 'data_collection', note: 'It trains.' },
    ]);
  });

  it('of a record: attempts in order, then what was not needed', () => {
    const available = [
      ...THEN.endpoints.available,
      { provider: 'East', model: 'acme/small', selected: false },
    ];
    expect(stopsOfRecord({ ...THEN, endpoints: { total: 3, available } })).toMatchObject([
      { kind: 'via' },
      { kind: 'failed', title: 'West', aside: '529' },
      { kind: 'served', title: 'South', aside: '200' },
      { kind: 'spare', title: 'East, acme/small', aside: 'not needed' },
    ]);
  });
});

it('says why an attempt failed in the words of its provider', () => {
  const notes = stopsOfRecord(THEN, [{ provider_message: 'internal failure' }, {}]).map(({ note }) => note);
  expect(notes).toContain('“internal failure” The next one was tried.');
  const unsaid = stopsOfRecord(THEN).map(({ note }) => note);
  expect(unsaid).toContain('Failed. The next one was tried.');
});

describe('compareRoutes', () => {
  it('says which endpoint is first now, and which are left out or new', () => {
    expect(compareRoutes(THEN, NOW)).toEqual({
      isSame: false,
      sentences: [
        'Then South (acme/large) served it. Today North (acme/large) would be first.',
        'West (acme/large) is left out today: It trains.',
        'North (acme/large) was not available then.',
      ],
    });
  });

  it('finds no difference between equal decisions', () => {
    const available = [
      { provider: 'North', model: MODEL, selected: true },
      { provider: 'South', model: MODEL, selected: false },
    ];
    expect(compareRoutes({ ...THEN, endpoints: { total: 2, available } }, NOW).isSame).toBe(true);
  });

  it('does not call a fallback model gone that the request of now does not name', () => {
    const small = { provider: 'South', model: 'acme/small' };
    const available = [
      { provider: 'North', model: MODEL, selected: false },
      { provider: 'South', model: MODEL, selected: false },
      { ...small, selected: true },
    ];
    const attempts = [
      { provider: 'North', model: MODEL, status: 500 },
      { ...small, status: 200 },
    ];
    const then = { ...THEN, strategy: 'fallback' as const, endpoints: { total: 3, available }, attempts };
    expect(compareRoutes(then, NOW).sentences).toEqual([
      'Then the request named fallback models, and South (acme/small) served it. ' +
        'The request of today asks for acme/large alone.',
    ]);
  });
});

describe('markedStops', () => {
  it('marks every endpoint whose part differs, in both decisions', () => {
    const changes = (stops: readonly { endpoint?: string; change?: string }[]) =>
      stops.flatMap(({ endpoint, change }) => (endpoint === undefined ? [] : [[endpoint, change]]));
    const { past, today } = markedStops(THEN, NOW);
    expect(changes(past)).toEqual([
      ['West (acme/large)', 'left out today'],
      ['South (acme/large)', 'spare today'],
    ]);
    expect(changes(today)).toEqual([
      ['North (acme/large)', 'new'],
      ['South (acme/large)', 'served then'],
      ['West (acme/large)', 'spare then'],
    ]);
  });
});
