import { describe, expect, it } from 'vitest';
import { type AnswerLine, Outgoing } from './outbound-response.ts';

/** A connection whose socket takes nothing any more, as one that was reset does before it says so. */
const DEAD_LINE: AnswerLine = {
  needsDrain: false,
  isTurnOf: () => true,
  write: () => false,
  cork() {},
  uncork() {},
  passOn() {},
  linger() {},
  destroy() {},
};

describe('an answer on a connection that was lost', () => {
  it('is gone for whoever writes it no sooner than for whoever is told', () => {
    const answer = new Outgoing(DEAD_LINE, true);
    const told: boolean[] = [];
    answer.whenClosed = (hasLeft) => told.push(hasLeft);
    expect(answer.write('a', 'latin1')).toBe(false);
    expect(answer.isGone).toBe(false);
    answer.close(false);
    expect(answer.isGone).toBe(true);
    expect(told).toEqual([false]);
  });

  it('is not gone when all of it had left', () => {
    const answer = new Outgoing(DEAD_LINE, true);
    answer.close(true);
    expect(answer.isGone).toBe(false);
  });
});
