import fc from 'fast-check';
import { expect, it } from 'vitest';
import { ExactNumbers } from './exact-numbers.ts';

/** What becomes of JSON that is parsed and written. */
function afterRoundTrip(...texts: string[]): string[] {
  const numbers = new ExactNumbers();
  const values = texts.map((text) => {
    numbers.look(Buffer.from(text));
    const read = numbers.read(text);
    expect(read).toHaveLength(text.length);
    return JSON.parse(read) as unknown;
  });
  return values.map((value) => numbers.write(JSON.stringify(value)));
}

it.each([
  '{"id":9007199254740993}',
  '{"a":9007199254740993,"b":9007199254740992,"c":9007199254740994,"d":[9007199254740993]}',
  '{"min":-9223372036854775808,"max":18446744073709551615}',
  '[1500000000000000000000,123456789012345678901234567890,99999999999999999]',
  '{"x":12345678901234567890.5,"y":1e21,"z":0.12345678901234566}',
  '{"\\"1":"9007199254740993\\\\","b":9007199254740993,"c":"\\\\\\"9007199254740993,"}',
  '[9007199254740993,9007199254740995,9007199254740997]',
])('keeps the digits of %s', (text) => {
  expect(afterRoundTrip(text)).toEqual([text.replace('1e21', '1e+21')]);
});

it('tells numbers of several texts apart that are the same double', () => {
  const texts = ['[9007199254740993]', '[9007199254740992]', '[9007199254740993]'];
  expect(afterRoundTrip(...texts)).toEqual(texts);
});

it('leaves text without long integers as it is', () => {
  const numbers = new ExactNumbers();
  const text = '{"a":0.1234567890123456789,"b":"12345678901234567890","c":1234567890123456}';
  numbers.look(Buffer.from(text));
  expect(numbers.read(text)).toBe(text);
  expect(numbers.isEmpty).toBe(true);
});

it('keeps the digits of any numbers among any strings', () => {
  const integer = fc.bigInt({ min: -(10n ** 25n), max: 10n ** 25n }).map(String);
  const entry = fc.oneof(
    integer,
    fc.string().map((text) => JSON.stringify(text)),
  );
  fc.assert(
    fc.property(fc.array(entry), (entries) => {
      const text = `[${entries.join(',')}]`;
      expect(afterRoundTrip(text)).toEqual([text]);
    }),
  );
});

it('sees integers that are cut between pieces', () => {
  const text = '{"id":9007199254740993}';
  for (let cut = 1; cut < text.length; cut++) {
    const numbers = new ExactNumbers();
    numbers.look(Buffer.from(text.slice(0, cut)));
    numbers.look(Buffer.from(text.slice(cut)));
    expect(numbers.write(JSON.stringify(JSON.parse(numbers.read(text))))).toBe(text);
  }
});

it('keeps the digits of numbers that are chosen to be close', () => {
  const close = Array.from({ length: 2_000 }, (_, index) => String(10n ** 29n + BigInt(index)));
  const text = `[${close.join()}]`;
  expect(afterRoundTrip(text)).toEqual([text]);
});

it('leaves a text with too many long numbers as it is', () => {
  const text = `[${Array.from({ length: 2_001 }, (_, index) => `9007199254740993${index}`).join()}]`;
  const numbers = new ExactNumbers();
  numbers.look(Buffer.from(text));
  expect(numbers.read(text)).toBe(text);
});
