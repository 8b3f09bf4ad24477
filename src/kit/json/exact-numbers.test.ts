import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runAtOnce, type Sliced } from '../loop/turns.ts';
import { ExactNumbers } from './exact-numbers.ts';
import { readJson } from './json.ts';
import { JsonReader } from './json-reader.ts';

/** What becomes of JSON that is parsed and written. */
function afterRoundTrip(...texts: string[]): string[] {
  const numbers = new ExactNumbers();
  const values = texts.map((text) => {
    numbers.look(Buffer.from(text));
    return JSON.parse(numbers.read(text)) as unknown;
  });
  return values.map((value) => numbers.write(JSON.stringify(value)));
}

it.each([
  '{"id":9007199254740993}',
  '{"a":9007199254740993,"b":9007199254740992,"c":9007199254740994,"d":[9007199254740993]}',
  '{"min":-9223372036854775808,"max":18446744073709551615}',
  '[1500000000000000000000,123456789012345678901234567890,99999999999999999]',
  '{"x":12345678901234567890.5,"y":1e21,"z":0.12345678901234566}',
  '[12345678901234567890,1.2345678901234567e19,12345678901234567000]',
  '[1234567890123456.7,1234567890123456.8,1234567890123457,1234567890123456.6]',
  '[12345678901234567890,1e400,-1e400,1e401,1e400,8.98846567431158e307,1.7976931348623157e308]',
  '{"\\"1":"9007199254740993\\\\","b":9007199254740993,"c":"\\\\\\"9007199254740993,"}',
  '[9007199254740993,9007199254740995,9007199254740997]',
])('keeps the digits of %s', (text) => {
  expect(afterRoundTrip(text)).toEqual([text]);
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
  const close = Array.from({ length: 5_000 }, (_, index) => String(10n ** 29n + BigInt(index)));
  const text = `[${close.join()}]`;
  expect(afterRoundTrip(text)).toEqual([text]);
});

it('keeps the digits of more neighbours than there are doubles, whatever stands after them', () => {
  const first = 9_007_199_254_740_993n;
  const neighbours = Array.from({ length: 5_000 }, (_, index) => String(first + BigInt(index)));
  const texts = [`[${neighbours.join()}]`, '[9007199254745994,9007199254745996,9.007199254745998e15]'];
  expect(afterRoundTrip(...texts)).toEqual(texts);
});

it('keeps the digits of close numbers, in any notation, in texts of one request', () => {
  const near = fc.bigInt({ min: 2n ** 53n - 4n, max: 2n ** 53n + 12n }).map(String);
  const notations = fc.constantFrom('', '.0', '.5', 'e1', 'E+2', 'e300');
  const number = fc.tuple(fc.constantFrom('', '-'), near, notations).map((parts) => parts.join(''));
  fc.assert(
    fc.property(fc.array(fc.array(number, { minLength: 1 }), { minLength: 1 }), (lists) => {
      const texts = lists.map((list) => `[${list.join()}]`);
      const written = afterRoundTrip(...texts).map((text) => text.slice(1, -1).split(','));
      for (const [at, list] of lists.entries()) {
        for (const [index, token] of list.entries()) {
          const isShort = Number.isSafeInteger(Number(token));
          expect(written[at]?.[index]).toBe(isShort ? String(Number(token)) : token);
        }
      }
    }),
  );
});

it('gives up its turn while it reads and writes many numbers', () => {
  const text = `[${Array.from({ length: 2_000 }, (_, index) => 10n ** 20n + BigInt(index)).join()}]`;
  const numbers = new ExactNumbers();
  numbers.look(Buffer.from(text));
  const [read, readSlices] = countSlices(numbers.readSliced(text));
  const [written, writeSlices] = countSlices(numbers.writeSliced(JSON.stringify(JSON.parse(read))));
  expect(written).toBe(text);
  expect(readSlices).toBeGreaterThan(4);
  expect(writeSlices).toBeGreaterThan(4);
});

function countSlices<T>(work: Sliced<T>): [result: T, slices: number] {
  for (let slices = 1; ; slices++) {
    const slice = work.next();
    if (slice.done === true) return [slice.value, slices];
  }
}

it('refuses a text with more long numbers than a request can have', () => {
  const text = `[${'9007199254740993,'.repeat(200_000)}9007199254740993]`;
  const numbers = new ExactNumbers();
  numbers.look(Buffer.from(text));
  expect(() => numbers.read(text)).toThrow('holds more than 200000 numbers beyond 2^53');
});

describe('reading', () => {
  it.each([
    '{"a":1e400,"b":[-1e400,1e999]}',
    '{"a":1e19,"b":10000000000000000001}',
    '{"a":"1e400","b":[1e400]}',
  ])('finds numbers that no double holds without a look at the bytes: %s', (text) => {
    const numbers = new ExactNumbers();
    const reading = readJson(text, undefined, numbers);
    expect(reading.ok && numbers.write(JSON.stringify(reading.value))).toBe(text);
  });

  it('tells numbers of an answer from those of a request that seemed short', () => {
    const numbers = new ExactNumbers();
    const texts = ['{"a":1e19}', '{"a":10000000000000000001}', '{"a":10000000000000000000}'];
    const readings = texts.map((text) => readJson(text, undefined, numbers));
    expect(readings.map((reading) => reading.ok && numbers.write(JSON.stringify(reading.value)))).toEqual(
      texts,
    );
  });

  it('keeps the digits of large texts whose numbers change their lengths', () => {
    const list = Array.from({ length: 5_000 }, (_, index) => `1e${400 + index}`);
    const text = `{"a":[${list.join()}],"b":{"c":[${list.join()}],"d":1e400}}`;
    const numbers = new ExactNumbers();
    const reader = new JsonReader(undefined, numbers);
    for (let from = 0; from < text.length; from += 1_000) reader.push(text.slice(from, from + 1_000));
    const reading = runAtOnce(reader.end());
    expect(reading.ok && numbers.write(JSON.stringify(reading.value))).toBe(text);
  });

  it.each(['[012345678901234567890]', '[12345678901234567890.]', '[1e400e1]', '[+12345678901234567890]'])(
    'refuses %s as JSON.parse does',
    (text) => {
      const numbers = new ExactNumbers();
      numbers.expect();
      expect(readJson('[12345678901234567891]', undefined, numbers).ok).toBe(true);
      expect(readJson(text, undefined, numbers).ok).toBe(false);
    },
  );
});
