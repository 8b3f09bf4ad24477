import { expect, it } from 'vitest';
import { canFilterRunning, logParameters } from './log-fields.ts';

it('asks the interface for what the address says', () => {
  const query = new URLSearchParams(
    'from=-1h&state=failed&state=fallback&min_seconds=2.5&trace_id=abc&search=+abc+&other=1',
  );
  expect(logParameters(query)).toEqual({
    state: 'failed,fallback',
    min_duration_ms: '2500',
    trace_id: 'abc',
    search: 'abc',
  });
});

it('asks for one session and one end user, whatever their names hold', () => {
  const query = new URLSearchParams([
    ['session_id', 'of one, of another'],
    ['external_user', 'Doe, Jane'],
  ]);
  expect(logParameters(query)).toEqual({ session_id: 'of one, of another', external_user: 'Doe, Jane' });
  expect(canFilterRunning(logParameters(query))).toBe(true);
});

it('shows running generations unless a filter concerns their end', () => {
  expect(canFilterRunning({})).toBe(true);
  expect(canFilterRunning({ model: 'acme/one', trace_id: 'abc', search: 'abc' })).toBe(true);
  expect(canFilterRunning({ model: 'acme/one', state: 'failed' })).toBe(false);
});
