import { expect, it } from 'vitest';
import { systemClock } from '../../../kit/time/clock.ts';
import { headerLine, ResponseHeadWriter } from './response-head-writer.ts';

it('writes Date and the headers about the connection', () => {
  const clock = { ...systemClock, now: () => 784_111_777_999 };
  const writer = new ResponseHeadWriter(clock, 65_900);
  expect(writer.head(200, 'A: b\r\n', true)).toBe(
    'HTTP/1.1 200 OK\r\nA: b\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\nConnection: keep-alive\r\nKeep-Alive: timeout=65\r\n\r\n',
  );
  expect(writer.head(503, '', false)).toBe(
    'HTTP/1.1 503 Service Unavailable\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\nConnection: close\r\n\r\n',
  );
});

it('has a reason phrase for a status without a standard one', () => {
  const writer = new ResponseHeadWriter(systemClock, 65_000);
  expect(writer.head(529, '', true)).toMatch(/^HTTP\/1\.1 529 unknown\r\n/);
});

it('replaces characters that could end a header', () => {
  expect(headerLine('A', 'b\r\nC: d\0\u00e4\u010a\ue00d')).toBe('A: b??C: d????\r\n');
});
