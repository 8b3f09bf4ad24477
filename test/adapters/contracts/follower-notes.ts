import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { FollowerNote, FollowerNotes } from '../../../src/ports/following/follower-notes.ts';

/** Adapters under test on one database, and how to close it. */
export interface FollowerNotesUnderTest {
  readonly notes: FollowerNotes;
  close(): Promise<void>;
}

const NOTE: FollowerNote = {
  place: 'p1',
  taken: 9_007_199_254_740_991,
  dropped: 3,
  waiting: 7,
  problem: 'no answer within the time limit',
  problemSinceMs: 1_790_000_000_123,
  updatedAtMs: 1_790_000_000_124,
};

/** What every FollowerNotes must do. `open` gives an empty one each time. */
export function followerNotesContract(name: string, open: () => Promise<FollowerNotesUnderTest>): void {
  describe(`FollowerNotes: ${name}`, () => {
    let under: FollowerNotesUnderTest;

    beforeEach(async () => {
      under = await open();
    });

    afterEach(() => under.close());

    it('keeps the last note of each follower, and forgets it', async () => {
      const { notes } = under;
      expect(await notes.takeTurn()).toBe(true);
      expect(await notes.listAll()).toEqual(new Map());
      const well = { ...NOTE, place: 'p2', problem: null, problemSinceMs: null, waiting: 0 };
      expect(await notes.note('destination/1', NOTE)).toBe(true);
      expect(await notes.note('destination/2', NOTE)).toBe(true);
      expect(await notes.takeTurn()).toBe(true);
      expect(await notes.note('destination/1', well)).toBe(true);
      expect(await notes.listAll()).toEqual(
        new Map([
          ['destination/1', well],
          ['destination/2', NOTE],
        ]),
      );
      await notes.forget('destination/1');
      await notes.forget('destination/1');
      expect([...(await notes.listAll()).keys()]).toEqual(['destination/2']);
    });
  });
}
