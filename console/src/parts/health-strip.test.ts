import { describe, expect, it } from 'vitest';
import { answeredShare, piecesOf, toneOf } from './health-strip.tsx';

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

describe('answeredShare', () => {
  it('is of all slots together, and absent without calls', () => {
    expect(answeredShare({ slot_seconds: 900, calls: [0, 10, 10], failures: [0, 0, 5] })).toBe(75);
    expect(answeredShare({ slot_seconds: 900, calls: [0], failures: [0] })).toBeNull();
    expect(answeredShare(null)).toBeNull();
  });
});
