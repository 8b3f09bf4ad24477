import { expect, it } from 'vitest';
import { mayColour } from './may-colour.ts';
import { readableLines, shortId } from './readable-line.ts';

const FIELDS = {
  id: 'gen-1794780288-AbCdEfGhIjKlMnOpQrSt',
  account: '0b9d6a52-7c1e-4c8e-9a44-0123456789ab',
  key_hash: 'f'.repeat(64),
  upstream_code: null,
  reason: 'connection refused',
  attempt_log: [{ endpoint: 'acme/eu', status: 502, errno: null }],
};

it('shows short ids, no nulls, and lists without quotes', () => {
  expect(readableLines(false)('warn', 0, 'generation failed', FIELDS)).toBe(
    '00:00:00.000 warn  generation failed id=gen-1794780288-AbCdEfGh account=0b9d6a52 key_hash=ffffffff ' +
      'reason="connection refused" attempt_log=[{endpoint=acme/eu status=502}]\n',
  );
});

it('colours the level, and nothing that a field can steer', () => {
  const line = readableLines(true)('error', 0, 'm\u001b[5m', { a: 'x\u001b[5m' });
  expect(line).toContain('\u001b[1;31merror\u001b[0m');
  expect(line).not.toContain('\u001b[5m');
});

it.each([
  [{}, true],
  [{ NO_COLOR: '' }, true],
  [{ NO_COLOR: '1' }, false],
  [{ TERM: 'dumb' }, false],
])('may colour in %o: %s', (env, may) => {
  expect(mayColour(env)).toBe(may);
});

it('leaves what is no long id as it is', () => {
  for (const text of ['acme/large', 'gen-1-short', 'main', '2025-06-01']) expect(shortId(text)).toBe(text);
});
