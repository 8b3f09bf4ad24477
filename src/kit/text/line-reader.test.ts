import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type Line, LineReader } from './line-reader.ts';

function read(pieces: readonly (string | Buffer)[], mostBytes = 100): Line[] {
  const reader = new LineReader(mostBytes);
  return [...pieces.flatMap((piece) => [...reader.push(Buffer.from(piece))]), ...reader.end()];
}

it('numbers lines from 1 and leaves out those without anything', () => {
  expect(read(['a\n\nb\n  \t\nc'])).toEqual([
    { number: 1, text: 'a' },
    { number: 3, text: 'b' },
    { number: 5, text: 'c' },
  ]);
  expect(read([''])).toEqual([]);
  expect(read(['\n\n'])).toEqual([]);
});

it('takes the line ends of either kind, and a byte order mark at the beginning alone', () => {
  expect(read(['\ufeffa\r\n\ufeffb\r\n\r\nc\r'])).toEqual([
    { number: 1, text: 'a' },
    { number: 2, text: '\ufeffb' },
    { number: 4, text: 'c' },
  ]);
});

it('reports what is too long or not UTF-8, and goes on with the next line', () => {
  const bad = Buffer.from([0x61, 0xff, 0x0a]);
  expect(read(['12345\n123456\r\n1234567\n', 'x'.repeat(50), 'x'.repeat(50), '\n', bad, 'ok'], 6)).toEqual([
    { number: 1, text: '12345' },
    { number: 2, text: '123456' },
    { number: 3, problem: 'is longer than 6 bytes' },
    { number: 4, problem: 'is longer than 6 bytes' },
    { number: 5, problem: 'is not valid UTF-8' },
    { number: 6, text: 'ok' },
  ]);
});

it('does not keep a line that has no end', () => {
  const reader = new LineReader(10);
  for (let count = 0; count < 1_000; count++) expect([...reader.push(Buffer.alloc(1_000, 'x'))]).toEqual([]);
  expect([...reader.end()]).toEqual([{ number: 1, problem: 'is longer than 10 bytes' }]);
});

it('reads the same however the bytes are cut', () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'é', '😀', '\n', '\r\n', ' ', '\ufeff') });
  fc.assert(
    fc.property(text, fc.array(fc.nat(20)), (whole, cuts) => {
      const bytes = Buffer.from(whole);
      const pieces: Buffer[] = [];
      let rest = bytes;
      for (const cut of cuts) {
        pieces.push(rest.subarray(0, cut));
        rest = rest.subarray(cut);
      }
      expect(read([...pieces, rest], 12)).toEqual(read([bytes], 12));
    }),
  );
});
