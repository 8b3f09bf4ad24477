import { describe, expect, it } from 'vitest';
import { Resumed } from './resumed.ts';

/** Counts from 1 to 3, and notes that it was ended. */
function counting() {
  const ended: string[] = [];
  async function* count() {
    try {
      for (const number of [1, 2, 3]) yield number;
    } finally {
      ended.push('ended');
    }
  }
  return { source: count(), ended };
}

async function collect(numbers: AsyncIterable<number>, most = 10): Promise<number[]> {
  const all: number[] = [];
  for await (const number of numbers) if (all.push(number) === most) break;
  return all;
}

describe('a sequence that goes on', () => {
  it('has every step once', async () => {
    const { source } = counting();
    expect(await collect(new Resumed(await source.next(), source))).toEqual([1, 2, 3]);
  });

  it('is over when the first step was the last', async () => {
    const { source } = counting();
    await source.return();
    expect(await collect(new Resumed(await source.next(), source))).toEqual([]);
  });

  it('ends its source where it is left', async () => {
    const { source, ended } = counting();
    expect(await collect(new Resumed(await source.next(), source), 2)).toEqual([1, 2]);
    expect(ended).toEqual(['ended']);
  });

  it('ends its source before anything was pulled', async () => {
    const { source, ended } = counting();
    const going = new Resumed(await source.next(), source);
    await going.return?.();
    expect(ended).toEqual(['ended']);
    expect(await going.next()).toEqual({ done: true, value: undefined });
  });
});
