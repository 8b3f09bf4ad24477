import { describe, expect, it } from 'vitest';
import { piecesOf, toneOf } from './health-strip.tsx';

describe('toneOf', () => {
  it('is pale where well, amber if some failed, red from half on, grey without traffic', () => {
    expect([toneOf(9, 0), toneOf(9, 1), toneOf(8, 4), toneOf(0, 0)]).toEqual(['o', 'p', 'q', 'z']);
  });
});

describe('piecesOf', () => {
  it('joins neighbours of one tone', () => {
    expect(piecesOf(['z', 'z', 'o', 'q', 'q'])).toEqual([
      { from: 0, width: 2, tone: 'z' },
      { from: 2, width: 1, tone: 'o' },
      { from: 3, width: 2, tone: 'q' },
    ]);
  });
});
