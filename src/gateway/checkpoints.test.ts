import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Checkpoints } from './checkpoints.ts';

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

function open() {
  const noted: number[] = [];
  return { noted, checkpoints: new Checkpoints(1000, (tokens) => noted.push(tokens)) };
}

describe('checkpoints', () => {
  it('are taken a second after something new, with all that came until then', () => {
    const { noted, checkpoints } = open();
    checkpoints.reached(1);
    vi.advanceTimersByTime(600);
    checkpoints.reached(5);
    vi.advanceTimersByTime(399);
    expect(noted).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(noted).toEqual([5]);
    vi.advanceTimersByTime(5000);
    checkpoints.reached(5);
    vi.advanceTimersByTime(5000);
    expect(noted).toEqual([5]);
  });

  it('do not wait after 200 tokens', () => {
    const { noted, checkpoints } = open();
    checkpoints.reached(150);
    checkpoints.reached(200);
    checkpoints.reached(399);
    checkpoints.reached(401);
    expect(noted).toEqual([200, 401]);
    vi.advanceTimersByTime(5000);
    expect(noted).toEqual([200, 401]);
  });

  it('do not wait for what the upstream has counted', () => {
    const { noted, checkpoints } = open();
    checkpoints.reached(3, true);
    expect(noted).toEqual([3]);
  });

  it('end with the answer', () => {
    const { noted, checkpoints } = open();
    checkpoints.reached(7);
    checkpoints.close();
    vi.advanceTimersByTime(5000);
    expect(noted).toEqual([]);
  });
});
