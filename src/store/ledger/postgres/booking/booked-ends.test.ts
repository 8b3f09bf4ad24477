import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type BookedEnds, isBooked, NONE_BOOKED, withBooked } from './booked-ends.ts';

describe('booked ends', () => {
  it('are those of all batches and no other, in any order, answered or not', () => {
    const batch = fc.record({
      /** Ends that the gateway has by then. */
      ended: fc.nat(5),
      picks: fc.array(fc.nat(20), { maxLength: 6 }),
      isAnswered: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(batch, { maxLength: 12 }), (history) => {
        let booked: BookedEnds = NONE_BOOKED;
        let last = 0;
        let waiting: number[] = [];
        const expected = new Set<number>();
        for (const { ended, picks, isAnswered } of history) {
          // Records of other kinds have sequences too.
          for (let count = 0; count < ended; count++) {
            last += 1 + (count % 2);
            waiting.push(last);
          }
          const chosen = new Set(picks.map((pick) => waiting[pick % Math.max(1, waiting.length)] ?? 0));
          const ends = waiting.filter((sequence) => chosen.has(sequence));
          const others = waiting.filter((sequence) => !chosen.has(sequence));
          booked = withBooked(booked, ends, others);
          for (const sequence of ends) expected.add(sequence);
          if (isAnswered) waiting = others;
          for (const sequence of [...waiting, ...expected]) {
            expect(isBooked(booked, sequence), `end ${sequence}`).toBe(expected.has(sequence));
          }
        }
      }),
    );
  });
});
