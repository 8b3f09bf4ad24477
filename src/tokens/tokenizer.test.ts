import { afterAll, describe, expect, it } from 'vitest';
import type { CountingThread, Slice } from './counting-thread.ts';
import { charactersOf } from './text-slices.ts';
import { createTokenizer } from './tokenizer.ts';

const tokenizer = createTokenizer();
afterAll(() => tokenizer.close());

describe('the tokenizer', () => {
  it('counts words', async () => {
    expect(await tokenizer.count(['one two three', ' four'])).toBe(4);
  });

  it('counts special tokens as text', async () => {
    expect(await tokenizer.count(['<|endoftext|>'])).toBeGreaterThan(1);
  });

  it.each([
    'a',
    ' ',
    '\n',
    ' \n',
    '\u00a0',
    '\u3000',
    '漢',
    '😀',
    '!',
    '/\n',
    'e\u0301',
    '!\u0301',
    '\ud800',
  ])('takes its time in proportion, also for a run of %j', async (unit) => {
    await tokenizer.count(['warm']);
    const text = unit.repeat(150_000 / unit.length);
    const before = process.cpuUsage();
    expect(await tokenizer.count([text])).toBeGreaterThan(1000);
    // A word of a tenth of this length would take the tokenizer longer.
    expect(process.cpuUsage(before).user / 1000).toBeLessThan(2000);
  });

  it('scales what is longer than it counts', async () => {
    const counted = await tokenizer.count(['word '.repeat(40_000)]);
    const scaled = await tokenizer.count(['word '.repeat(800_000)]);
    expect(scaled / counted).toBeGreaterThan(19);
    expect(scaled / counted).toBeLessThan(21);
  });
});

/** A thread that counts a token for every character when it is told to. */
function steppedThread() {
  const asked: { slices: readonly Slice[]; answer: () => void; fail: () => void }[] = [];
  const thread: CountingThread = {
    count: (slices) =>
      new Promise((resolve, reject) => {
        asked.push({
          slices,
          answer: () => resolve(slices.map(charactersOf)),
          fail: () => reject(new Error('dead')),
        });
      }),
    close: async () => {},
  };
  return { asked, thread };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('counting in turns', () => {
  it('lets a short text overtake a long one', async () => {
    const { asked, thread } = steppedThread();
    const { count } = createTokenizer({ thread });
    const order: string[] = [];
    const long = count(['x'.repeat(100_000)]).then(() => order.push('long'));
    const short = count(['hello']).then(() => order.push('short'));
    for (let index = 0; index < 14; index++) {
      await turn();
      asked[index]?.answer();
    }
    await Promise.all([long, short]);
    expect(order).toEqual(['short', 'long']);
    expect(asked[1]?.slices).toEqual([['hello']]);
  });

  it('asks about short texts together', async () => {
    const { asked, thread } = steppedThread();
    const { count } = createTokenizer({ thread });
    const counts = ['a', 'bb', 'ccc', 'd'.repeat(8190), 'ee'].map((text) => count([text]));
    for (let index = 0; index < 3; index++) {
      await turn();
      asked[index]?.answer();
    }
    expect(await Promise.all(counts)).toEqual([1, 2, 3, 8190, 2]);
    expect(asked.map(({ slices }) => slices.map(charactersOf))).toEqual([[1], [2, 3], [8190, 2]]);
  });

  it('estimates what a thread does not count in time, from what it has counted', async () => {
    const { asked, thread } = steppedThread();
    const { count } = createTokenizer({ thread, patienceMs: 20 });
    expect(await count(['x'.repeat(4000)])).toBe(1000);
    asked[0]?.answer();
    await turn();
    const half = count(['y'.repeat(30_000)]);
    asked[1]?.answer();
    expect(await half).toBe(30_000);
  });

  it('estimates when the thread dies, and goes on', async () => {
    const { asked, thread } = steppedThread();
    const { count } = createTokenizer({ thread });
    const lost = count(['漢'.repeat(400)]);
    asked[0]?.fail();
    expect(await lost).toBe(300);
    await turn();
    const next = count(['hello']);
    await turn();
    asked[1]?.answer();
    expect(await next).toBe(5);
  });

  it('stops for an aborted count', async () => {
    const { asked, thread } = steppedThread();
    const { count } = createTokenizer({ thread });
    const aborting = new AbortController();
    const dropped = count(['x'.repeat(100_000)], aborting.signal);
    aborting.abort(new Error('gone'));
    await expect(dropped).rejects.toThrow('gone');
    asked[0]?.answer();
    await turn();
    expect(asked).toHaveLength(1);
    await expect(count(['x'], aborting.signal)).rejects.toThrow('gone');
  });

  it('counts less of each text when much is waiting', async () => {
    const { asked, thread } = steppedThread();
    const { count } = createTokenizer({ thread, patienceMs: 2_000 });
    const many = Array.from({ length: 100 }, () => count(['x'.repeat(200_000)]));
    const last = count(['y'.repeat(200_000)]);
    let answered = 0;
    while (answered < 102) {
      await turn();
      asked[answered++]?.answer();
    }
    expect(await last).toBe(200_000);
    await Promise.all(many);
    expect(asked.filter(({ slices }) => slices[0]?.[0]?.startsWith('y'))).toHaveLength(1);
  });

  it('settles all counts when it is closed', async () => {
    const { thread } = steppedThread();
    const { count, close } = createTokenizer({ thread });
    const waiting = count(['abcdefgh']);
    await close();
    expect(await waiting).toBe(2);
    expect(await count(['abcd'])).toBe(1);
  });
});
