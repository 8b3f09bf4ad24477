import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Checkpoints } from './checkpoints.ts';

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

/** Checkpoints that take `noteMs` each. */
function open(noteMs = 0) {
  const taken: number[] = [];
  const began = Date.now();
  const checkpoints = new Checkpoints(1000, async () => {
    taken.push(Date.now() - began);
    if (noteMs > 0) await new Promise((resolve) => setTimeout(resolve, noteMs));
  });
  return { taken, checkpoints };
}

describe('checkpoints', () => {
  it('are taken a second after something new', async () => {
    const { taken, checkpoints } = open();
    checkpoints.passed(1, false);
    await vi.advanceTimersByTimeAsync(600);
    checkpoints.passed(5, false);
    await vi.advanceTimersByTimeAsync(5000);
    expect(taken).toEqual([1000]);
    checkpoints.passed(0, false);
    await vi.advanceTimersByTimeAsync(5000);
    expect(taken).toEqual([1000]);
  });

  it.each([
    ['after 200 tokens', 200, false],
    ['for what the upstream has counted', 0, true],
  ])('do not wait %s', async (_, tokens, isReported) => {
    const { taken, checkpoints } = open();
    checkpoints.passed(150, false);
    checkpoints.passed(tokens, isReported);
    await vi.advanceTimersByTimeAsync(5000);
    expect(taken).toEqual([0]);
  });

  it('are taken one at a time', async () => {
    const { taken, checkpoints } = open(50);
    checkpoints.passed(200, false);
    checkpoints.passed(200, false);
    await vi.advanceTimersByTimeAsync(20);
    checkpoints.passed(300, false);
    await vi.advanceTimersByTimeAsync(5000);
    expect(taken).toEqual([0, 50]);
  });

  it('end with the answer', async () => {
    const { taken, checkpoints } = open();
    checkpoints.passed(7, false);
    checkpoints.close();
    checkpoints.passed(500, true);
    await vi.advanceTimersByTimeAsync(5000);
    expect(taken).toEqual([]);
  });
});
