import { describe, expect, it } from 'vitest';
import { EndedGenerations, NONE_ENDED } from './ended-generations.ts';

describe('ended generations', () => {
  it('are remembered for at least half of what fits, and never more than what fits', () => {
    const ended = new EndedGenerations(NONE_ENDED, 10);
    for (let id = 0; id < 95; id++) ended.add(String(id));
    for (let id = 85; id < 95; id++) expect(ended.has(String(id))).toBe(true);
    const { older, recent } = ended.ids();
    expect(older.length + recent.length).toBeLessThanOrEqual(20);
    expect(ended.has('10')).toBe(false);
  });

  it('go on from where they were', () => {
    const ended = new EndedGenerations(NONE_ENDED, 10);
    for (let id = 0; id < 15; id++) ended.add(String(id));
    const copy = new EndedGenerations(ended.ids(), 10);
    for (let id = 15; id < 40; id++) {
      ended.add(String(id));
      copy.add(String(id));
      expect(copy.ids()).toEqual(ended.ids());
    }
  });
});
