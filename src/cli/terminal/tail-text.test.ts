import { expect, it } from 'vitest';
import { tailText } from './tail-text.ts';

const ID = 'gen-1790000000-abcdefghijklmnopqrst';

const line = {
  time: '2026-01-02T03:04:05.678Z',
  end: 'finished',
  id: ID,
  model: 'acme/large',
  endpoint: 'acme',
  duration_ms: 12,
  input_tokens: 3,
  output_tokens: 4,
  cost_usd: 0.5,
  key: 'main',
} as unknown as Parameters<typeof tailText>[0];

it('says what the provider said of a failed attempt, on the same line', () => {
  const attempt = {
    endpoint: 'acme/main',
    status: 500,
    duration_ms: 7,
    error_kind: 'upstream-unavailable',
    upstream_code: null,
    errno: null,
  };
  const rescued = [{ ...attempt, provider_message: 'internal failure\nin the model runner' }, attempt];
  const text = tailText({ ...line, rescued } as unknown as typeof line, {
    hasColours: false,
    hasShortIds: true,
  });
  expect(text).toMatch(
    /rescued from acme\/main 500 upstream-unavailable 7 ms "internal failure.+in the model runner", acme\/main 500 upstream-unavailable 7 ms\n$/,
  );
  expect(text.indexOf('\n')).toBe(text.length - 1);
});

it('has short ids on a terminal and whole ones, which other commands take, in a pipe', () => {
  const rest = '  acme/large at acme  12 ms  3 + 4 tokens, 0.50 USD  key main\n';
  expect(tailText(line, { hasColours: false, hasShortIds: true })).toBe(
    `03:04:05.678  finished  gen-1790000000-abcdefgh${rest}`,
  );
  expect(tailText(line, { hasColours: false, hasShortIds: false })).toBe(
    `03:04:05.678  finished  ${ID}${rest}`,
  );
});
