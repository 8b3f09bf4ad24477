import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { leastMs } from '../../../test/kit/builders/least-ms.ts';
import { findExcess, isJsonObject, readJson } from './json.ts';

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

/** The smallest limit that a text keeps to is how deep it is. */
function measuredDepth(text: string): number {
  for (let depth = 0; ; depth++) {
    if (findExcess(text, { depth, keys: 1000, values: 1000 }) === undefined) return depth;
  }
}

describe('nesting', () => {
  it('is counted as parsing would find it', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
        expect(measuredDepth(JSON.stringify(value))).toBe(depthOf(value));
      }),
    );
  });

  it.each([
    ['"[[["', 0],
    ['{"a\\"[":[1]}', 2],
    ['["\\\\",[1]]', 2],
    ['"unfinished [[', 0],
  ])('is not fooled by strings: %s', (text, depth) => {
    expect(measuredDepth(text)).toBe(depth);
  });
});

describe('keys of one object', () => {
  const objectWith = (count: number) =>
    `{${Array.from({ length: count }, (_, index) => `"k${index}":1`).join()}}`;

  it('are counted apart for each object', () => {
    const limits = { depth: 64, keys: 3, values: 1000 };
    expect(
      findExcess(`{"a":${objectWith(3)},"b":[${objectWith(3)},${objectWith(3)}]}`, limits),
    ).toBeUndefined();
    expect(findExcess(`{"a":${objectWith(3)},"b":[${objectWith(4)}]}`, limits)).toEqual({
      path: 'b',
      problem: 'an object has more than 3 keys',
    });
    expect(findExcess(objectWith(4), limits)).toMatchObject({ path: '' });
  });

  it('are refused without reading the rest', () => {
    const text = `{"metadata":${objectWith(300_000)}}`;
    expect(readJson(text)).toEqual({
      ok: false,
      path: 'metadata',
      problem: 'an object has more than 5000 keys',
    });
    expect(leastMs(() => readJson(text))).toBeLessThan(50);
  });
});

describe('values in all', () => {
  it('are counted through all containers, and the field they are in is named', () => {
    const limits = { depth: 64, keys: 100, values: 9 };
    expect(findExcess('{"a":[1,2,3],"b":{"c":1,"d":[1,2]}}', limits)).toBeUndefined();
    expect(findExcess('{"a":[1,2,3],"b":{"c":1,"d":[1,2,3,4]}}', limits)).toEqual({
      path: 'b',
      problem: 'holds more than 9 values',
    });
  });

  it('are counted where no comma tells of them', () => {
    const nested = `${'{"a":'.repeat(20)}1${'}'.repeat(20)}`;
    const limits = { depth: 64, keys: 100, values: 50 };
    expect(findExcess(`[${nested}]`, limits)).toBeUndefined();
    expect(findExcess(`{"list":[${nested},${nested},${nested}]}`, limits)).toEqual({
      path: 'list',
      problem: 'holds more than 50 values',
    });
  });
});

describe('reading JSON', () => {
  it('refuses what is nested too deep, and takes the deepest that is allowed', () => {
    const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
    expect(readJson(nested(64)).ok).toBe(true);
    expect(readJson(nested(65))).toEqual({ ok: false, path: '', problem: 'nested deeper than 64 levels' });
  });

  it('says where the problem is without quoting the input', () => {
    const reading = readJson('{"secret": sk-12345}');
    expect(reading).toMatchObject({ ok: false, problem: expect.stringMatching(/^not valid JSON/) });
    expect(JSON.stringify(reading)).not.toContain('sk-12345');
  });

  it('makes special keys plain keys', () => {
    const reading = readJson('{"__proto__":{"admin":true}}');
    expect(reading.ok && Object.keys(reading.value as object)).toEqual(['__proto__']);
    expect(({} as Record<string, unknown>).admin).toBeUndefined();
  });
});

describe('objects', () => {
  it.each([
    [{}, true],
    [[], false],
    [null, false],
    ['x', false],
  ])('%j', (value, expected) => {
    expect(isJsonObject(value)).toBe(expected);
  });
});

describe('short text', () => {
  it('is read as long text is', () => {
    const limits = { depth: 3, keys: 1000, values: 1000 };
    const blanks = ' '.repeat(limits.keys * 5);
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), fc.nat(), (value, at) => {
        const text = JSON.stringify(value);
        const broken = text.slice(0, at % (text.length + 1));
        for (const short of [text, broken]) {
          const reading = readJson(short, limits);
          const ofLong = readJson(short + blanks, limits);
          // Where a text ends too soon, blanks behind it give that a position.
          if (!reading.ok && reading.problem.includes('valid JSON')) expect(ofLong.ok).toBe(false);
          else expect(reading).toEqual(ofLong);
        }
      }),
    );
  });

  it('that is too deep is refused by the member that is', () => {
    expect(readJson(`{"a":1,"b":${'['.repeat(64)}${']'.repeat(64)}}`)).toEqual({
      ok: false,
      path: 'b',
      problem: 'nested deeper than 64 levels',
    });
    expect(readJson(`{"b":${'['.repeat(63)}${']'.repeat(63)}}`)).toMatchObject({ ok: true });
  });
});
