import { expect, it } from 'vitest';
import type { GenerationRecord } from '../../api/contract.ts';
import { waterfallOf } from './waterfall-rows.ts';

const AT = '2026-11-03T15:00:00.000Z';
const after = (ms: number) => new Date(Date.parse(AT) + ms).toISOString();
const leg = (more: object) => ({
  kind: 'main',
  model: 'm',
  provider_name: 'A',
  started_at: AT,
  duration_ms: 1_000,
  tokens_prompt: 1,
  tokens_completion: 2,
  cost: 0,
  status: 'completed',
  ...more,
});
const record = (more: object) =>
  ({
    created_at: AT,
    ended_at: after(1_005),
    latency: 600,
    legs: [leg({})],
    tool_calls: [],
    ...more,
  }) as unknown as GenerationRecord;

it('draws a failed attempt and the one that served behind it', () => {
  const { totalMs, rows } = waterfallOf(
    record({
      provider_responses: [
        { provider_name: 'A', endpoint_id: 'a/eu', status: 529, latency: 200 },
        { provider_name: 'B', endpoint_id: 'b', status: 200, latency: 300, started_ms: 250 },
      ],
    }),
  );
  expect(totalMs).toBe(1_005);
  expect(rows.map(({ title, failure, bars }) => [title, failure, ...bars])).toEqual([
    ['Admit, plan', null, { kind: 'gate', fromMs: 0, toMs: 50 }],
    ['A', '529', { kind: 'fail', fromMs: 50, toMs: 250 }],
    ['B', null, { kind: 'wait', fromMs: 300, toMs: 600 }, { kind: 'strm', fromMs: 600, toMs: 1_000 }],
  ]);
});

it('puts attempts and tool calls below the leg they belong to', () => {
  const { rows } = waterfallOf(
    record({
      legs: [
        leg({ started_at: after(10), duration_ms: 300 }),
        leg({ started_at: after(500), duration_ms: 400 }),
      ],
      provider_responses: [
        { provider_name: 'A', status: 200, latency: 100, leg: 1 },
        { provider_name: 'A', status: 200, latency: 100, leg: 2, started_ms: 490 },
      ],
      tool_calls: [
        { name: 'web_search', leg: 1, started_at: after(310), duration_ms: 180, outcome: 'timeout' },
      ],
    }),
  );
  expect(rows.map(({ kind, title }) => `${kind} ${title}`)).toEqual([
    'gateway Admit, plan',
    'leg Leg 1',
    'attempt A',
    'tool web_search',
    'leg Leg 2',
    'attempt A',
  ]);
  expect(rows[3]).toMatchObject({ failure: 'timeout', bars: [{ kind: 'fail', fromMs: 310, toMs: 490 }] });
  expect(rows[5]?.bars[0]).toEqual({ kind: 'wait', fromMs: 500, toMs: 600 });
});

it('draws nothing where no model was called', () => {
  expect(waterfallOf(record({ legs: [], provider_responses: null })).rows).toEqual([]);
});
