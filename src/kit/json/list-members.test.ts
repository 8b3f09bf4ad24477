import { describe, expect, it } from 'vitest';
import { runAtOnce } from '../loop/turns.ts';
import { listMembers } from './list-members.ts';

const membersOf = (text: string, most = 10) => runAtOnce(listMembers(text, ['data', 'models'], most));

describe('listMembers', () => {
  it.each([
    ['[]', [], 0],
    [' [ ] ', [], 0],
    ['[1, {"a": [2, 3]} ,"x, ]"]', ['1', '{"a": [2, 3]}', '"x, ]"'], 3],
    ['{"data": [{"id": "a\\"]"}, {}]}', ['{"id": "a\\"]"}', '{}'], 2],
    ['{"links": [9], "models": [1], "data": [2]}', ['2'], 1],
    ['{"nested": {"data": [9]}, "models": [1]}', ['1'], 1],
    ['{"data": "none", "models": [1]}', ['1'], 1],
    ['{"data": {"data": [9]}, "models": [[1], [2]]}', ['[1]', '[2]'], 2],
  ])('finds those of %s', (text, first, count) => {
    const found = membersOf(text);
    expect(found).toMatchObject({ count, isWhole: true });
    expect(found?.first.map((member) => member.trim())).toEqual(first);
  });

  it.each(['', 'text', '7', '{}', '{"data": {}}', '{"data": "[1]"}', '<p>[1]</p>', '{"other": [1]}'])(
    'finds none in %s',
    (text) => {
      expect(membersOf(text)).toBeUndefined();
    },
  );

  it('keeps the first, and counts all', () => {
    const numbers = Array.from({ length: 100 }, (_, index) => index);
    expect(membersOf(JSON.stringify({ data: numbers }), 3)).toEqual({
      first: ['0', '1', '2'],
      count: 100,
      isWhole: true,
    });
  });

  it('has the complete members of a text that is cut anywhere', () => {
    const text = JSON.stringify({ object: 'list', data: [{ id: 'a,]' }, { id: 'b' }, { id: 'c' }] });
    for (let length = 0; length < text.length - 2; length++) {
      const found = membersOf(text.slice(0, length));
      for (const member of found?.first ?? []) expect(JSON.parse(member)).toHaveProperty('id');
      expect(found?.isWhole ?? false).toBe(false);
    }
    expect(membersOf(text.slice(0, -3))?.count).toBe(2);
  });

  it('takes long texts in slices', () => {
    const work = listMembers(JSON.stringify([' '.repeat(100), ...Array(300_000).fill('abc')]), [], 1);
    let slices = 0;
    for (;;) {
      const slice = work.next();
      slices++;
      if (slice.done === true) {
        expect(slice.value?.count).toBe(300_001);
        break;
      }
    }
    expect(slices).toBeGreaterThan(5);
  });
});
