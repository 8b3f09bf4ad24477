import { describe, expect, it } from 'vitest';
import { parseUsageLine } from './usage-line.ts';

const NOW_MS = Date.UTC(2026, 5, 15);

const LEAST = {
  generation_id: 'gen-1',
  created_at: '2026-06-14T12:00:00Z',
  model: 'acme/large',
  tokens_prompt: 100,
  tokens_completion: 20,
};

const WHOLE = {
  ...LEAST,
  provider: 'Acme',
  api_key_hash: 'a'.repeat(64),
  workspace_id: 'w',
  user: 'jane',
  session_id: 's',
  app: { referer: 'https://app.example/', title: 'App', categories: ['game'] },
  tokens_reasoning: 20,
  tokens_cached: 100,
  cost_usd: 0.5,
  is_byok: true,
  finish_reason: 'stop',
  latency_ms: 12.5,
  generation_ms: 900,
  country: 'de',
};

const read = (line: unknown) => parseUsageLine(JSON.stringify(line), NOW_MS);

describe('parseUsageLine', () => {
  it('takes a line with all members, with few, and with null for those that are absent', () => {
    const createdAtMs = Date.UTC(2026, 5, 14, 12);
    expect(read(WHOLE)).toEqual({ ok: true, line: WHOLE, createdAtMs });
    expect(read(LEAST)).toEqual({ ok: true, line: LEAST, createdAtMs });
    const nulls = Object.fromEntries(Object.keys(WHOLE).map((name) => [name, null]));
    expect(read({ ...nulls, ...LEAST })).toMatchObject({ ok: true });
    expect(read({ ...LEAST, app: { referer: null, title: null, categories: null } })).toMatchObject({
      ok: true,
    });
  });

  it.each<[string, unknown, string | RegExp]>([
    ['generation_id', undefined, 'is required'],
    ['generation_id', '', 'must not be empty'],
    ['generation_id', 'x'.repeat(257), 'must have at most 256 characters'],
    ['generation_id', 'a\u0000', 'must not hold control characters or halves of characters'],
    ['generation_id', 'a\ud800', 'must not hold control characters or halves of characters'],
    ['generation_id', 7, 'must be a string'],
    ['created_at', undefined, 'is required'],
    ['created_at', 1_781_438_400, 'must be a string'],
    ['created_at', '2026-06-14', /^must be a moment such as /],
    ['created_at', '2026-02-31T00:00:00Z', /^must be a moment such as /],
    ['created_at', '2026-06-14T12:00:00', /^must be a moment such as /],
    ['created_at', '2019-12-31T23:59:59.999Z', 'must not be before 2020-01-01T00:00:00Z'],
    ['created_at', '2020-01-01T00:00:00+00:01', 'must not be before 2020-01-01T00:00:00Z'],
    ['created_at', '2026-06-16T00:00:00.001Z', 'must not be more than a day ahead'],
    ['model', null, 'must be a string'],
    ['provider', '', 'must not be empty'],
    ['tokens_prompt', -1, 'must be >= 0'],
    ['tokens_prompt', 1.5, 'must be an integer'],
    ['tokens_prompt', '100', 'must be an integer'],
    ['tokens_completion', 1e12 + 1, 'must be <= 1000000000000'],
    ['tokens_reasoning', 21, 'must not be more than tokens_completion'],
    ['tokens_cached', 101, 'must not be more than tokens_prompt'],
    ['cost_usd', -0.1, 'must be >= 0'],
    ['cost_usd', 10_000.1, 'must be <= 10000'],
    ['cost_usd', '0.1', 'must be a number or null'],
    ['is_byok', 'yes', 'must be a boolean or null'],
    ['latency_ms', -1, 'must be >= 0'],
    ['generation_ms', 1e10, 'must be <= 1000000000'],
    ['country', 'DEU', 'must be the two letters of a country, such as DE'],
    ['country', 'D1', 'must be the two letters of a country, such as DE'],
    ['app', 'App', 'must be an object or null'],
    ['total', 1, 'is not a known field'],
  ])('refuses %s: %j', (path, value, message) => {
    const expected = typeof message === 'string' ? message : expect.stringMatching(message);
    expect(read({ ...LEAST, [path]: value })).toEqual({ ok: false, problem: { path, message: expected } });
  });

  it.each([
    ['a day ahead', '2026-06-16T00:00:00Z'],
    ['the first moment', '2020-01-01T00:00:00Z'],
    ['an offset', '2026-06-14T14:00:00+02:00'],
  ])('takes %s', (_, moment) => {
    expect(read({ ...LEAST, created_at: moment })).toMatchObject({ ok: true });
  });

  it.each([
    ['{"generation_id": ', /^not valid JSON/],
    ['[]', 'must be an object'],
    ['7', 'must be an object'],
    ['null', 'must be an object'],
    ['['.repeat(100_000), /./],
  ])('refuses %.20s', (text, message) => {
    const expected = typeof message === 'string' ? message : expect.stringMatching(message);
    expect(parseUsageLine(text, NOW_MS)).toEqual({ ok: false, problem: { path: '', message: expected } });
  });

  it('knows no member but its own', () => {
    expect(parseUsageLine(`{"__proto__": 1, ${JSON.stringify(LEAST).slice(1)}`, NOW_MS)).toEqual({
      ok: false,
      problem: { path: '__proto__', message: 'is not a known field' },
    });
    expect(read({ ...LEAST, app: { refererr: 'x' } })).toEqual({
      ok: false,
      problem: { path: 'app.refererr', message: 'is not a known field' },
    });
  });
});
