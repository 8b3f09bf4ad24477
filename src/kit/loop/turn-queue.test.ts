import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { TurnQueue } from './turn-queue.ts';

describe('TurnQueue', () => {
  it('admits so many per turn of the loop, in the order they came', async () => {
    const turns = new TurnQueue(8);
    const admitted: number[] = [];
    const readers = Array.from({ length: 20 }, (_, reader) => turns.next().then(() => admitted.push(reader)));
    expect(admitted).toEqual([]);
    await turn();
    expect(admitted).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    await Promise.all(readers);
    expect(admitted).toEqual(Array.from({ length: 20 }, (_, reader) => reader));
  });

  it('lets one alone go on in the next turn, again and again', async () => {
    const turns = new TurnQueue(8);
    for (let round = 0; round < 3; round++) {
      let isAdmitted = false;
      const waiting = turns.next().then(() => {
        isAdmitted = true;
      });
      await Promise.resolve();
      expect(isAdmitted).toBe(false);
      await waiting;
      expect(isAdmitted).toBe(true);
    }
  });
});
