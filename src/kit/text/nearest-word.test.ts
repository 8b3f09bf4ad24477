import { describe, expect, it } from 'vitest';
import { editDistance, nearestWord } from './nearest-word.ts';

describe('editDistance', () => {
  it.each([
    ['', '', 0],
    ['abc', 'abc', 0],
    ['abc', '', 3],
    ['doctor', 'dcotor', 1],
    ['kitten', 'sitting', 3],
    ['serve', 'server', 1],
  ])('of "%s" and "%s" is %i', (one, other, distance) => {
    expect(editDistance(one, other)).toBe(distance);
    expect(editDistance(other, one)).toBe(distance);
  });
});

describe('nearestWord', () => {
  const words = ['doctor', 'serve', 'keys list', 'keys create'];

  it('finds the word that was meant, whatever its case', () => {
    expect(nearestWord('dcotor', words)).toBe('doctor');
    expect(nearestWord('key list', words)).toBe('keys list');
    expect(nearestWord('SERVER', words)).toBe('serve');
  });

  it('suggests nothing for a word that is like none', () => {
    expect(nearestWord('frobnicate', words)).toBeUndefined();
    expect(nearestWord('', words)).toBeUndefined();
    expect(nearestWord('doctor'.repeat(100), words)).toBeUndefined();
  });
});
