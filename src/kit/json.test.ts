import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isJsonObject, nestingDepth, readJson } from './json.ts';

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

describe('nesting', () => {
  it('is counted as parsing would find it', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
        expect(nestingDepth(JSON.stringify(value), 100)).toBe(depthOf(value));
      }),
    );
  });

  it.each([
    ['"[[["', 0],
    ['{"a\\"[":[1]}', 2],
    ['["\\\\",[1]]', 2],
    ['"unfinished [[', 0],
  ])('is not fooled by strings: %s', (text, depth) => {
    expect(nestingDepth(text, 100)).toBe(depth);
  });

  it('is counted no further than needed', () => {
    expect(nestingDepth('['.repeat(1_000_000), 64)).toBe(65);
  });
});

describe('reading JSON', () => {
  it('refuses what is nested too deep, and takes the deepest that is allowed', () => {
    const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
    expect(readJson(nested(64)).ok).toBe(true);
    expect(readJson(nested(65))).toEqual({ ok: false, problem: 'nested deeper than 64 levels' });
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
