import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Sliced } from '../loop/turns.ts';
import { JsonReader } from './json-reader.ts';
import { JsonScanner } from './json-scanner.ts';
import { JsonProblem, parseSliced } from './parse-sliced.ts';

const NO_LIMITS = { depth: 1_000, keys: 1_000_000, values: 10_000_000 };

function run<T>(work: Sliced<T>): { value: T; slices: number } {
  for (let slices = 1; ; slices++) {
    const step = work.next();
    if (step.done === true) return { value: step.value, slices };
  }
}

/** What parsing in slices of a few characters gives; undefined where the text is not JSON. */
function parsed(text: string): { value: unknown } | undefined {
  const scanner = new JsonScanner(NO_LIMITS, 3);
  scanner.push(text);
  try {
    return { value: run(parseSliced(text, scanner.large, { members: 4, string: 7 })).value };
  } catch (error) {
    if (error instanceof JsonProblem) return undefined;
    throw error;
  }
}

function nativelyParsed(text: string): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

const anyJson = fc.oneof(
  fc.json({ maxDepth: 5 }),
  fc.jsonValue({ maxDepth: 5 }).map((value) => JSON.stringify(value, null, '\t')),
  fc.array(fc.string({ unit: 'binary', maxLength: 40 })).map((value) => JSON.stringify(value)),
  fc.dictionary(fc.string(), fc.string({ maxLength: 40 })).map((value) => JSON.stringify(value)),
);

describe('parsing in slices', () => {
  it('gives what parsing at once does, keys in the same order', () => {
    fc.assert(
      fc.property(anyJson, (text) => {
        expect(JSON.stringify(parsed(text))).toBe(JSON.stringify(nativelyParsed(text)));
      }),
      { numRuns: 2000 },
    );
  });

  it('refuses what parsing at once does', () => {
    const change = fc.tuple(fc.nat(), fc.nat(3), fc.constantFrom('', ...'[]{},:"\\ 0-tn\t\u0001'));
    fc.assert(
      fc.property(anyJson, fc.array(change, { maxLength: 3 }), (json, changes) => {
        const text = changes.reduce((changed, [at, length, put]) => {
          const start = at % (changed.length + 1);
          return changed.slice(0, start) + put + changed.slice(start + length);
        }, json);
        expect(JSON.stringify(parsed(text))).toBe(JSON.stringify(nativelyParsed(text)));
      }),
      { numRuns: 5000 },
    );
  });

  it.each([
    '[,["long enough"]]',
    '[1 ["long enough"]]',
    '["long enough to be read alone",]',
    '{"key":1"long enough to be read alone"}',
    '{"key" "long enough to be read alone"}',
    '["long enough to be read alone" 1]',
    '[[1,2,3,4,5}]',
    '[1,2,3,4,5]x',
    '["\\u00e4\\ud83d\\ude00\\\\\\\\\\\\\\\\\\"\\\\"]',
    '["long enough to be read alone\u0000"]',
    '{"__proto__":{"a":"long enough"},"b":2}',
    '{"b":"long enough","1":2,"a":3,"b":4}',
  ])('agrees on %s', (text) => {
    expect(JSON.stringify(parsed(text))).toBe(JSON.stringify(nativelyParsed(text)));
  });

  it('says where the problem is', () => {
    const list = `[${'1,'.repeat(20_000)}?]`;
    const reader = new JsonReader();
    reader.push(list);
    expect(run(reader.end()).value).toEqual({
      ok: false,
      path: '',
      problem: expect.stringMatching(/^not valid JSON( at position 40001)?$/),
    });
  });
});

describe('what is large', () => {
  const slicesOf = (text: string) => {
    const reader = new JsonReader(NO_LIMITS);
    reader.push(text);
    return run(reader.end()).slices;
  };

  it.each([
    ['many small items', (n: number) => JSON.stringify({ input: Array(n * 1000).fill({ role: 'user' }) })],
    ['items in items', (n: number) => JSON.stringify([{ a: [{ b: Array(n * 5000).fill('text') }] }])],
    [
      'many keys',
      (n: number) =>
        JSON.stringify(
          Object.fromEntries(
            Array(n * 5000)
              .fill(0)
              .entries(),
          ),
        ),
    ],
    ['a long string', (n: number) => JSON.stringify({ input: 'x'.repeat(n * 600_000) })],
    ['a long string of escapes', (n: number) => JSON.stringify({ input: '\\'.repeat(n * 300_000) })],
  ])('is parsed in slices whose number grows with it: %s', (_, make) => {
    const slices = slicesOf(make(4));
    expect(slices).toBeGreaterThan(4);
    expect(slicesOf(make(16))).toBeGreaterThan(slices * 2);
  });

  it('is not what an ordinary request is', () => {
    const body = { input: Array.from({ length: 100 }, () => ({ role: 'user', content: 'x'.repeat(1000) })) };
    expect(slicesOf(JSON.stringify(body))).toBe(1);
  });
});
