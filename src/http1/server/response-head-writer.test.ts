import { expect, it } from 'vitest';
import { systemClock } from '../../kit/time/clock.ts';
import { headerLine, ResponseHeads } from './response-head-writer.ts';

it('says what becomes of the connection, and when it was', () => {
  const clock = { ...systemClock, now: () => 784_111_777_999 };
  const heads = new ResponseHeads(clock, 65_900);
  expect(heads.head(200, 'A: b\r\n', true)).toBe(
    'HTTP/1.1 200 OK\r\nA: b\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\nConnection: keep-alive\r\nKeep-Alive: timeout=65\r\n\r\n',
  );
  expect(heads.head(503, '', false)).toBe(
    'HTTP/1.1 503 Service Unavailable\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\nConnection: close\r\n\r\n',
  );
});

it('has a word for a status that has no name', () => {
  const heads = new ResponseHeads(systemClock, 65_000);
  expect(heads.head(529, '', true)).toMatch(/^HTTP\/1\.1 529 unknown\r\n/);
});

it('lets nothing into a header that could end it', () => {
  expect(headerLine('A', 'b\r\nC: d\0\u00e4\u010a\ue00d')).toBe('A: b??C: d????\r\n');
});
