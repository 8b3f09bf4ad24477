import { expect, it } from 'vitest';
import type { WaterfallPlan } from '../../../parts/waterfall/waterfall-rows.ts';
import { whereTimeWent } from './where-time-went.ts';

const RECORD = { tokens_completion: 300, streamed: true };

const row = (
  kind: WaterfallPlan['rows'][number]['kind'],
  title: string,
  bars: readonly (readonly ['wait' | 'strm' | 'fail' | 'tool' | 'gate' | 'sum', number, number])[],
  failure: string | null = null,
) => ({
  kind,
  title,
  detail: '',
  failure,
  bars: bars.map(([bar, fromMs, toMs]) => ({ kind: bar, fromMs, toMs })),
});

it('names what took longest, then what else did', () => {
  const plan: WaterfallPlan = {
    totalMs: 10_000,
    rows: [
      row('gateway', 'Admit, plan', [['gate', 0, 20]]),
      row('attempt', 'Alpha', [['fail', 20, 2_020]], '529'),
      row('attempt', 'Beta', [
        ['wait', 2_020, 9_000],
        ['strm', 9_000, 10_000],
      ]),
    ],
  };
  expect(whereTimeWent(RECORD, plan)).toEqual({
    first: '6.98 s of 10.00 s (70 %) were spent waiting for the first token of Beta.',
    others: [
      '2.00 s in 1 attempt that failed (Alpha 529)',
      '1.00 s receiving 300 tokens of Beta, 300 a second',
    ],
  });
  expect(whereTimeWent({ ...RECORD, streamed: false }, plan)?.first).toContain('the answer of Beta');
});

it('counts every moment once, tools that failed and parallel ones too', () => {
  const plan: WaterfallPlan = {
    totalMs: 1_000,
    rows: [
      row('leg', 'Leg 1', [['sum', 0, 200]]),
      row('attempt', 'Alpha', [['wait', 0, 200]]),
      row('tool', 'web_search', [['tool', 200, 800]]),
      row('tool', 'fetch', [['fail', 200, 600]], 'timeout'),
    ],
  };
  expect(whereTimeWent(RECORD, plan)).toEqual({
    first: '600 ms of 1.00 s (60 %) were spent running server tools (web_search, fetch).',
    others: [
      '200 ms waiting for the first token of Alpha',
      '200 ms in the gateway, between the calls and after them',
    ],
  });
});

it('says nothing where no model was called', () => {
  expect(whereTimeWent(RECORD, { totalMs: 5, rows: [] })).toBeNull();
});
