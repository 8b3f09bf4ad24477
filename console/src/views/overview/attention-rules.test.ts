import { expect, it } from 'vitest';
import { type AttentionFacts, notesOf } from './attention-rules.ts';

const CALM = {
  overview: { now: { request_count: 100, error_count: 4 }, ledger: { state: 'agrees' } },
  logOf: (extra: object) => `/log?${new URLSearchParams(Object.entries(extra))}`,
  isAccount: true,
  keys: [{ name: 'CI', label: 'sk-...1', limit: 10, limit_remaining: 2, limit_reset: null, disabled: false }],
  workspaces: [
    { id: 'w', name: 'Research', budgets: [{ used_usd: 1, limit_usd: 10, reset_interval: 'daily' }] },
  ],
  providers: [{ slug: 'acme', name: 'Acme', endpoints: 2, endpoints_out: 0, changes: [] }],
  endpoints: [{ model: 'acme/one', history: { slot_seconds: 900, calls: [5], failures: [1] } }],
  configuration: { last_reload: { is_accepted: true, problems: [] } },
  refused: [],
};

const notes = (more: object) => notesOf({ ...CALM, ...more } as unknown as AttentionFacts);

it('has nothing to say while all is well', () => {
  expect(notes({})).toEqual([]);
});

it.each([
  [
    'a refused file',
    {
      configuration: {
        last_reload: { is_accepted: false, problems: [{ path: 'models', message: 'must be a list' }] },
      },
    },
    'bad',
    'The configuration file was refused',
    '/configuration',
  ],
  [
    'a model without answers',
    { endpoints: [{ model: 'a/b', history: { slot_seconds: 900, calls: [9, 2, 1], failures: [0, 2, 1] } }] },
    'bad',
    'a/b gives no answers',
    '/models?open=a%2Fb',
  ],
  [
    'an endpoint that cools down',
    { providers: [{ slug: 'acme', name: 'Acme', endpoints: 2, endpoints_out: 1, changes: [] }] },
    'warn',
    'Acme is cooling down',
    '/providers?provider=acme',
  ],
  [
    'a share of errors',
    { overview: { now: { request_count: 100, error_count: 15 }, ledger: { state: 'agrees' } } },
    'warn',
    '15 % of the generations have no answer',
    '/log?state=failed',
  ],
  [
    'a key at its limit',
    {
      keys: [
        { name: 'CI', label: 'x', limit: 10, limit_remaining: 0, limit_reset: 'daily', disabled: false },
      ],
    },
    'bad',
    'Key CI has used up its daily limit',
    '/keys?search=CI',
  ],
  [
    'a key that may spend nothing',
    {
      keys: [
        { name: '', label: 'sk-...1', limit: 0, limit_remaining: 0, limit_reset: null, disabled: false },
      ],
    },
    'bad',
    'Key sk-...1 has used up its limit',
    '/keys?search=',
  ],
  [
    'a budget near its end',
    {
      workspaces: [
        { id: 'w', name: 'Research', budgets: [{ used_usd: 9.5, limit_usd: 10, reset_interval: null }] },
      ],
    },
    'warn',
    'Workspace Research is at 95 % of its budget',
    '/workspaces#w',
  ],
  [
    'figures that differ',
    { overview: { now: { request_count: 0, error_count: 0 }, ledger: { state: 'differs', difference: 1 } } },
    'warn',
    'Figures and ledger differ',
    '/configuration',
  ],
])('notes %s', (_, more, dot, title, href) => {
  expect(notes(more)).toMatchObject([{ dot, title, href }]);
});

it('does not round up to a full limit, and writes both amounts alike', () => {
  const budget = { used_usd: 0.0998, limit_usd: 0.1002, reset_interval: 'daily' };
  const found = notes({ workspaces: [{ id: 'w', name: 'Research', budgets: [budget] }] });
  expect(found).toMatchObject([
    {
      title: 'Workspace Research is at 99.6 % of its daily budget',
      detail: '$0.0998 of $0.1002',
      text: 'At the limit requests get 403.',
    },
  ]);
});

it('adds up what was refused of a key for one reason, and leads to its rows', () => {
  const row = { key_hash: 'f'.repeat(64), key_name: 'CI', error_status: 402, error_type: 'payment_required' };
  const found = notes({
    refused: [
      { ...row, refused_requests: 1 },
      { ...row, error_status: 400, error_type: 'invalid_request', refused_requests: 9 },
      { ...row, refused_requests: 430 },
      { ...row, error_status: 429, error_type: 'rate_limit_exceeded', refused_requests: 2 },
    ],
    providers: [{ slug: 'acme', name: 'Acme', endpoints: 2, endpoints_out: 1, changes: [] }],
  });
  expect(found.map(({ dot, title, detail }) => [dot, title, detail])).toEqual([
    ['bad', 'CI is refused', '431 × 402 limit used up'],
    ['bad', 'CI is refused', '2 × 429 rate limited'],
    ['warn', 'Acme is cooling down', '1 of 2 endpoints'],
  ]);
  expect(found[0]?.href).toBe(`/log?state=refused&key=${'f'.repeat(64)}&error_status=402`);
});
