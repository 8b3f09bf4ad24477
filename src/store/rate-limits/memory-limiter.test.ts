import { describe, expect, it } from 'vitest';
import type { RateLimit } from '../../ports/shared/limiter.ts';
import { MemoryLimiter } from './memory-limiter.ts';

const MINUTE = 60_000;
const DAY = 86_400_000;
const NOON = 20_000 * DAY + DAY / 2;

class TwoClocks {
  wall = NOON;
  steady = 1000;
  now = () => this.wall;
  monotonic = () => this.steady;
  pass(ms: number) {
    this.wall += ms;
    this.steady += ms;
  }
}

const limit = (window: 'minute' | 'day', max: number, subject = 'k'): RateLimit => ({
  name: `requests-per-${window}`,
  subject,
  window,
  unit: 'requests',
  max,
});

async function passing(limiter: MemoryLimiter, limits: RateLimit[], times: number): Promise<number> {
  const verdicts = await Promise.all(Array.from({ length: times }, () => limiter.take(limits)));
  return verdicts.filter(({ ok }) => ok).length;
}

describe('the limiter in memory', () => {
  it('lets as many pass as a window holds, and says when the next begins', async () => {
    const clock = new TwoClocks();
    const limiter = new MemoryLimiter(clock);
    expect(await passing(limiter, [limit('minute', 3)], 5)).toBe(3);
    clock.pass(10_000);
    expect(await limiter.take([limit('minute', 3)])).toEqual({
      ok: false,
      limit: limit('minute', 3),
      resetAtMs: NOON + MINUTE,
    });
    clock.pass(50_000);
    expect(await passing(limiter, [limit('minute', 3)], 5)).toBe(3);
  });

  it('counts days until midnight UTC', async () => {
    const clock = new TwoClocks();
    const limiter = new MemoryLimiter(clock);
    expect(await passing(limiter, [limit('day', 2)], 3)).toBe(2);
    expect(await limiter.take([limit('day', 2)])).toMatchObject({ resetAtMs: NOON + DAY / 2 });
    clock.pass(DAY / 2 - 1);
    expect((await limiter.take([limit('day', 2)])).ok).toBe(false);
    clock.pass(1);
    expect((await limiter.take([limit('day', 2)])).ok).toBe(true);
  });

  it.each([
    ['an hour forward', 60 * MINUTE],
    ['an hour back', -60 * MINUTE],
    ['a week back', -7 * DAY],
  ])('neither locks out nor lets pass when the clock is set %s', async (_, jump) => {
    const clock = new TwoClocks();
    const limiter = new MemoryLimiter(clock);
    expect(await passing(limiter, [limit('minute', 3)], 5)).toBe(3);
    clock.wall += jump;
    expect(await passing(limiter, [limit('minute', 3)], 5)).toBe(0);
    clock.pass(MINUTE);
    expect(await passing(limiter, [limit('minute', 3)], 5)).toBe(3);
  });

  it('continues the count of the day after a restart', async () => {
    const clock = new TwoClocks();
    const before = new MemoryLimiter(clock);
    expect(await passing(before, [limit('day', 3)], 2)).toBe(2);
    const after = new MemoryLimiter(clock, before.days());
    expect(await passing(after, [limit('day', 3)], 5)).toBe(1);
    clock.pass(DAY);
    expect(new MemoryLimiter(clock, after.days()).days()).toEqual([]);
  });

  it('forgets windows that are over', async () => {
    const clock = new TwoClocks();
    const limiter = new MemoryLimiter(clock);
    for (let index = 0; index < 5000; index++) {
      await limiter.take([limit('day', 1, `k${index}`)]);
      if (index % 100 === 0) clock.pass(DAY);
    }
    expect(limiter.days().length).toBeLessThan(200);
  });
});
