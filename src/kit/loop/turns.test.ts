import { describe, expect, it } from 'vitest';
import {
  forEachSliced,
  inTurn,
  nextTurn,
  Pace,
  runAtOnce,
  runInTurns,
  SharedTurn,
  type Sliced,
} from './turns.ts';

/** How often the event loop turned while something was done. */
async function turnsDuring(work: () => Promise<unknown>): Promise<number> {
  let turns = 0;
  let isOver = false;
  const count = () => {
    turns++;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  await work();
  isOver = true;
  return turns;
}

function* slices(count: number): Generator<void, string, void> {
  for (let slice = 1; slice < count; slice++) yield;
  return 'done';
}

describe('work in slices', () => {
  it('lets the event loop turn between any two', async () => {
    const turns = await turnsDuring(async () => expect(await runInTurns(slices(10))).toBe('done'));
    expect(turns).toBeGreaterThanOrEqual(9);
  });

  it('waits for nothing when it is a single slice', async () => {
    expect(await turnsDuring(() => runInTurns(slices(1)))).toBe(0);
  });

  it('can be done at once', () => {
    expect(runAtOnce(slices(10))).toBe('done');
  });

  it('visits the members of a list in their order, a few in a slice', () => {
    const visited: number[] = [];
    const work = forEachSliced(Array(1000).keys(), (member, index) => visited.push(member - index));
    let count = 1;
    while (work.next().done !== true) count++;
    expect([count > 5, visited]).toEqual([true, Array(1000).fill(0)]);
    expect(forEachSliced([1], () => {}).next().done).toBe(true);
  });
});

describe('a step', () => {
  /** A clock by which every step takes so long. */
  const clockOf = (milliseconds: number) => {
    let now = 0;
    return {
      monotonic: () => {
        now += milliseconds;
        return now;
      },
    };
  };

  it('yields to others after a long step, and only then', async () => {
    expect(await turnsDuring(async () => inTurn(clockOf(0.1), () => 1))).toBe(0);
    expect(await turnsDuring(async () => inTurn(clockOf(50), () => 1))).toBeGreaterThan(0);
  });

  it('gives what it made, and throws what it threw', async () => {
    expect(await inTurn(clockOf(50), () => 'made')).toBe('made');
    await expect(async () =>
      inTurn(clockOf(50), () => {
        throw new Error('no');
      }),
    ).rejects.toThrow('no');
  });
});

describe('a pace', () => {
  function slicesOf(work: Generator<void, unknown, void>): number {
    let count = 1;
    while (work.next().done !== true) count++;
    return count;
  }

  it('fills slices from all loops together', () => {
    const pace = new Pace();
    function* nested() {
      for (let outer = 0; outer < 100; outer++) yield* pace.flatMap(Array(100).keys(), (member) => [member]);
    }
    expect(slicesOf(nested())).toBe(Math.floor(10_000 / 256) + 1);
  });

  it('maps a short list in one slice', () => {
    const pace = new Pace();
    expect(runAtOnce(pace.flatMap([1, 2, 3], (member) => (member === 2 ? [] : [member, member])))).toEqual([
      1, 1, 3, 3,
    ]);
    expect(slicesOf(new Pace().flatMap(Array(100).keys(), () => []))).toBe(1);
  });
});

describe('a shared turn', () => {
  const wait = (ms: number) => {
    for (const end = performance.now() + ms; performance.now() < end; );
  };

  it('is given up after some milliseconds, and lets two pieces of long work go on in each of the next', async () => {
    let slices = 0;
    const work = function* (): Sliced<void> {
      for (let slice = 0; slice < 3; slice++) {
        slices++;
        wait(6);
        yield;
      }
    };
    const all = Promise.all(Array.from({ length: 6 }, () => new SharedTurn().run(work())));
    expect(slices).toBe(6);
    const grown: number[] = [];
    while (slices < 18) {
      const before = slices;
      await nextTurn();
      grown.push(slices - before);
    }
    await all;
    expect(Math.max(...grown)).toBeLessThanOrEqual(4);
    expect(grown.length).toBeGreaterThanOrEqual(3);
  });

  it('ends with the signal', async () => {
    const leaving = new AbortController();
    const endless = function* (): Sliced<void> {
      for (;;) {
        wait(6);
        yield;
      }
    };
    const running = new SharedTurn(leaving.signal).run(endless());
    leaving.abort(new Error('left'));
    await expect(running).rejects.toThrow('left');
  });
});
