import { expect, it } from 'vitest';
import { remembered } from './remembered.ts';

it('makes each text once, as far as there is room', () => {
  const asked: string[] = [];
  const upper = remembered(2, (text) => {
    asked.push(text);
    return text.toUpperCase();
  });
  expect(['a', 'b', 'c', 'a', 'b', 'c'].map(upper)).toEqual(['A', 'B', 'C', 'A', 'B', 'C']);
  expect(asked).toEqual(['a', 'b', 'c', 'c']);
});
