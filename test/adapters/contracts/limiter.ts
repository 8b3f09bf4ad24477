import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Limiter, RateLimit, RateUnit, RateWindow } from '../../../src/ports/shared/limiter.ts';

export interface OpenLimiter {
  readonly limiter: Limiter;
  /** A limiter of another gateway on the same store, or the same one if the store is in memory. */
  readonly other: Limiter;
  /** Ends all windows of a length, as if their time had passed. */
  endWindows(window: RateWindow): Promise<void>;
  close(): Promise<void>;
}

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

/** Stores on this machine have its clock. */
const CLOCK_SLACK_MS = 5_000;

const limitOf = (window: RateWindow, max: number, subject = 'k', unit: RateUnit = 'requests'): RateLimit => ({
  name: `${unit}-per-${window}`,
  subject,
  window,
  unit,
  max,
});

/** Every limiter must pass this. `now`: the clock of the store. */
export function limiterContract(name: string, now: () => number, open: () => Promise<OpenLimiter>): void {
  describe(name, () => {
    let opened: OpenLimiter;
    beforeEach(async () => {
      opened = await open();
    });
    afterEach(() => opened.close());

    /** Requests that pass, of so many at once, by turns at both gateways. */
    async function passing(limits: RateLimit[], times: number): Promise<number> {
      const { limiter, other } = opened;
      const asked = Array.from({ length: times }, (_, at) => (at % 2 === 0 ? limiter : other).take(limits));
      return (await Promise.all(asked)).filter(({ ok }) => ok).length;
    }

    it('lets exactly as many pass as a window holds, over two gateways', async () => {
      expect(await passing([limitOf('minute', 60)], 180)).toBe(60);
      await opened.endWindows('minute');
      expect(await passing([limitOf('minute', 60)], 100)).toBe(60);
    });

    it('names the limit that forbids a request, and when it resets', async () => {
      const limits = [limitOf('day', 5), limitOf('minute', 2)];
      expect(await passing(limits, 3)).toBe(2);
      const verdict = await opened.limiter.take(limits);
      expect(verdict).toEqual({ ok: false, limit: limits[1], resetAtMs: expect.any(Number) });
      const resetAtMs = verdict.ok ? 0 : verdict.resetAtMs;
      expect(resetAtMs).toBeGreaterThan(now() + MINUTE_MS - CLOCK_SLACK_MS);
      expect(resetAtMs).toBeLessThanOrEqual(now() + MINUTE_MS + CLOCK_SLACK_MS);
    });

    it('counts days until midnight UTC', async () => {
      expect(await passing([limitOf('day', 2)], 3)).toBe(2);
      const verdict = await opened.other.take([limitOf('day', 2)]);
      const midnight = (Math.floor(now() / DAY_MS) + 1) * DAY_MS;
      expect(Math.abs((verdict.ok ? 0 : verdict.resetAtMs) - midnight)).toBeLessThan(CLOCK_SLACK_MS);
      await opened.endWindows('day');
      expect(await passing([limitOf('day', 2)], 3)).toBe(2);
    });

    it('counts against all limits or none', async () => {
      expect(await passing([limitOf('minute', 5), limitOf('day', 2)], 4)).toBe(2);
      expect(await passing([limitOf('minute', 5)], 10)).toBe(3);
    });

    it('keeps subjects apart, also of requests of one moment', async () => {
      const { limiter } = opened;
      const subjects = Array.from({ length: 50 }, (_, at) => `k${at % 10}`);
      const verdicts = await Promise.all(
        subjects.map((subject) => limiter.take([limitOf('minute', 2, subject)])),
      );
      for (const subject of new Set(subjects)) {
        expect(verdicts.filter(({ ok }, at) => ok && subjects[at] === subject)).toHaveLength(2);
      }
    });

    it('shares a counter between requests with different limits', async () => {
      const { limiter, other } = opened;
      const account = limitOf('day', 3, 'account');
      const verdicts = await Promise.all([
        limiter.take([limitOf('minute', 9, 'a'), account]),
        limiter.take([limitOf('minute', 9, 'b'), account]),
        other.take([limitOf('minute', 9, 'a'), account]),
        other.take([limitOf('minute', 9, 'c'), account]),
      ]);
      expect(verdicts.filter(({ ok }) => ok)).toHaveLength(3);
    });

    it('follows a limit that is changed', async () => {
      expect(await passing([limitOf('minute', 2)], 5)).toBe(2);
      expect(await passing([limitOf('minute', 4)], 5)).toBe(2);
      expect(await passing([limitOf('minute', 3)], 5)).toBe(0);
    });

    it('forbids requests once so many tokens are counted, without counting any itself', async () => {
      const { limiter, other } = opened;
      const limit = limitOf('day', 100, 'k', 'tokens');
      expect(await passing([limit], 10)).toBe(10);
      await limiter.add([{ ...limit, amount: 60 }]);
      expect(await passing([limit], 2)).toBe(2);
      await other.add([{ ...limit, amount: 60 }]);
      expect(await limiter.take([limit])).toEqual({ ok: false, limit, resetAtMs: expect.any(Number) });
      expect((await other.take([limit])).ok).toBe(false);
      await opened.endWindows('day');
      expect(await passing([limit], 2)).toBe(2);
    });

    it('counts no request that tokens forbid', async () => {
      const tokens = limitOf('minute', 10, 'k', 'tokens');
      const requests = limitOf('minute', 3);
      await opened.limiter.add([
        { ...tokens, amount: 4 },
        { ...tokens, amount: 6 },
      ]);
      expect(await passing([requests, tokens], 3)).toBe(0);
      expect(await passing([requests], 5)).toBe(3);
    });

    it('adds tokens before it looks at requests that come later', async () => {
      const { limiter } = opened;
      const limit = limitOf('minute', 10, 'k', 'tokens');
      const [, verdict] = await Promise.all([limiter.add([{ ...limit, amount: 10 }]), limiter.take([limit])]);
      expect(verdict.ok).toBe(false);
    });

    it('takes names and subjects of any characters', async () => {
      const odd = (subject: string) => ({ ...limitOf('minute', 1), subject });
      for (const subject of ["'; drop table x; --", 'a:b', 'a', 'b', '{x}', 'ü€', '"', '\\']) {
        expect((await opened.limiter.take([odd(subject)])).ok).toBe(true);
        expect((await opened.other.take([odd(subject)])).ok).toBe(false);
      }
    });
  });
}
