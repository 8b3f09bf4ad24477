import { expect, it } from 'vitest';
import { ShedRequests } from './shed-requests.ts';

it('logs a reason at once and then once a minute, with the number of requests', () => {
  let now = 0;
  const lines: unknown[] = [];
  const ignored = () => {};
  const log = {
    debug: ignored,
    info: ignored,
    error: ignored,
    warn: (_: string, fields?: object) => lines.push(fields),
  };
  const shed = new ShedRequests({ now: () => now, monotonic: () => now }, log);
  for (let requests = 0; requests < 5; requests++) shed.note('no memory');
  shed.note('too many');
  now = 60_000;
  shed.note('no memory');
  expect(lines).toEqual([
    { reason: 'no memory', requests: 1 },
    { reason: 'too many', requests: 1 },
    { reason: 'no memory', requests: 5 },
  ]);
});
