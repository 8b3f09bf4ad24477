import { describe, expect, it, vi } from 'vitest';
import { BATCH_POINT, Cohort } from './cohort.ts';

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

describe('a cohort', () => {
  it('is handled at the end of the turn, in the order of arrival', async () => {
    const dealt: number[] = [];
    const cohort = new Cohort<number>((thing) => dealt.push(thing));
    cohort.add(1);
    await BATCH_POINT;
    cohort.add(2);
    expect(dealt).toEqual([]);
    await nextTurn();
    expect(dealt).toEqual([1, 2]);
  });

  it('leaves what comes meanwhile to the next turn', async () => {
    const turns: number[][] = [[]];
    const cohort = new Cohort<number>((thing) => {
      turns.at(-1)?.push(thing);
      if (thing < 3) cohort.add(thing + 1);
    });
    cohort.add(1);
    for (let turn = 0; turn < 3; turn++) {
      await nextTurn();
      turns.push([]);
    }
    expect(turns).toEqual([[1], [2], [3], []]);
  });

  it('handles at most a number in one turn, the newest first', async () => {
    const turns: number[][] = [[]];
    const cohort = new Cohort<number>(
      (thing) => {
        turns.at(-1)?.push(thing);
        if (thing === 1) cohort.add(9);
      },
      { most: 3, newest: 1 },
    );
    for (const thing of [1, 2, 3, 4, 5, 6, 7, 8]) cohort.add(thing);
    for (let turn = 0; turn < 4; turn++) {
      await nextTurn();
      turns.push([]);
    }
    expect(turns).toEqual([[8, 1, 2], [9, 3, 4], [5, 6, 7], [], []]);
  });

  it('handles the oldest first if `newest` is 0', async () => {
    const turns: number[][] = [[]];
    const cohort = new Cohort<number>((thing) => turns.at(-1)?.push(thing), { most: 2, newest: 0 });
    for (const thing of [1, 2, 3]) cohort.add(thing);
    await nextTurn();
    turns.push([]);
    await nextTurn();
    expect(turns).toEqual([[1, 2], [3]]);
  });

  it('handles the others when one of them throws', async () => {
    const dealt: number[] = [];
    const cohort = new Cohort<number>((thing) => {
      if (thing === 2) throw new Error('two');
      dealt.push(thing);
    });
    const uncaught = vi.fn();
    const before = process.listeners('uncaughtException');
    process.removeAllListeners('uncaughtException').once('uncaughtException', uncaught);
    try {
      for (const thing of [1, 2, 3]) cohort.add(thing);
      await nextTurn();
      await nextTurn();
    } finally {
      process.removeAllListeners('uncaughtException');
      for (const listener of before) process.on('uncaughtException', listener);
    }
    expect(dealt).toEqual([1, 3]);
    expect(uncaught).toHaveBeenCalledOnce();
  });
});

describe('a batch point', () => {
  it('is reached by all requests of a turn before one continues', async () => {
    const steps: string[] = [];
    const go = async (name: string) => {
      steps.push(`${name}1`);
      await BATCH_POINT;
      steps.push(`${name}2`);
      await BATCH_POINT;
      steps.push(`${name}3`);
    };
    await Promise.all([go('a'), go('b')]);
    expect(steps).toEqual(['a1', 'b1', 'a2', 'b2', 'a3', 'b3']);
  });
});
