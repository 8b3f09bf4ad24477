import { describe, expect, it } from 'vitest';
import { RestartDelay } from './restart-delay.ts';

describe('RestartDelay', () => {
  it('replaces a worker that has served at once', () => {
    const delay = new RestartDelay();
    expect([60_000, 1_000, 90_000].map((servedMs) => delay.afterDeath(servedMs))).toEqual([0, 0, 0]);
  });

  it('waits longer and longer while workers die at their start, at most half a minute', () => {
    const delay = new RestartDelay();
    const delays = Array.from({ length: 12 }, () => delay.afterDeath(0));
    expect(delays.slice(0, 4)).toEqual([250, 500, 1000, 2000]);
    expect(delays.at(-1)).toBe(30_000);
  });

  it('forgets failed starts once a worker has served', () => {
    const delay = new RestartDelay();
    for (let index = 0; index < 5; index++) delay.afterDeath(10);
    expect(delay.afterDeath(20_000)).toBe(0);
    expect(delay.afterDeath(0)).toBe(250);
  });
});
