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

it('has short ids on a terminal and whole ones, which other commands take, in a pipe', () => {
  const rest = '  acme/large at acme  12 ms  3 + 4 tokens, 0.50 USD  key main\n';
  expect(tailText(line, { hasColours: false, hasShortIds: true })).toBe(
    `03:04:05.678  finished  gen-1790000000-abcdefgh${rest}`,
  );
  expect(tailText(line, { hasColours: false, hasShortIds: false })).toBe(
    `03:04:05.678  finished  ${ID}${rest}`,
  );
});
