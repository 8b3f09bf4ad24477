import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toolUseId } from './ids.ts';

describe('ids of calls', () => {
  it('stay as they are where the format allows them', () => {
    for (const id of ['toolu_01-A', 'a_1', 'x'.repeat(128)]) expect(toolUseId(id)).toBe(id);
  });

  it.each([
    ['a.1', 'a:1', 'a_1'],
    ['', '.', ':', '日本', '中国'],
    [`${'x'.repeat(200)}1`, `${'x'.repeat(200)}2`, 'x'.repeat(128)],
  ])('stay apart although they would come out alike: %s, %s, ...', (...ids) => {
    const made = ids.map(toolUseId);
    expect(new Set(made).size).toBe(ids.length);
    expect(ids.map(toolUseId)).toEqual(made);
    for (const id of made) expect(id).toMatch(/^[a-zA-Z0-9_-]{1,128}$/);
  });

  it('are allowed, whatever they were, and stay the same when they come back', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (id) => {
        const made = toolUseId(id);
        expect(made).toMatch(/^[a-zA-Z0-9_-]{1,128}$/);
        expect(toolUseId(made)).toBe(made);
      }),
    );
  });
});
