import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Freshness } from './freshness.ts';

/** Changes of a store that answers only when the test says so. */
function openSilentChanges() {
  let answer = () => {};
  const changes = {
    seen: 0,
    questions: 0,
    seenUntilMs: () => changes.seen,
    catchUp: () => {
      changes.questions++;
      return new Promise<void>((resolve) => {
        answer = resolve;
      });
    },
    answer(atMs: number) {
      changes.seen = atMs;
      answer();
    },
  };
  return changes;
}

describe('Freshness', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });

  afterEach(() => {
    vi.useRealTimers();
  });

  /** How long `confirm` waits if nothing answers, milliseconds. */
  async function waited(freshness: Freshness): Promise<number> {
    const began = Date.now();
    let ended: number | undefined;
    const done = freshness.confirm().then(() => {
      ended = Date.now();
    });
    while (ended === undefined && Date.now() - began < 10_000) await vi.advanceTimersByTimeAsync(100);
    await done;
    return (ended ?? Number.POSITIVE_INFINITY) - began;
  }

  it('waits a second for a store that does not answer, and not again until there is news', async () => {
    const changes = openSilentChanges();
    const freshness = new Freshness(changes, { monotonic: () => Date.now() });
    expect(await waited(freshness)).toBe(1_000);
    expect(await waited(freshness)).toBeLessThanOrEqual(100);
    expect(changes.questions).toBe(1);

    changes.answer(Date.now());
    expect(await waited(freshness)).toBe(1_000);
    expect(changes.questions).toBe(2);
  });

  it('waits for each answer of a store that answers in time', async () => {
    const changes = openSilentChanges();
    const freshness = new Freshness(changes, { monotonic: () => Date.now() });
    for (const atMs of [1, 2, 3]) {
      const confirmed = freshness.confirm();
      changes.answer(atMs);
      await confirmed;
    }
    expect(changes.questions).toBe(3);
  });
});
