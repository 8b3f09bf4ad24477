import { describe, expect, it, vi } from 'vitest';
import { HandClock } from '../../../test/kit/fakes/hand-clock.ts';
import { Retention, type RetentionDependencies } from './retention.ts';

const DAY_MS = 86_400_000;

function openRetention(changes: Partial<RetentionDependencies> = {}) {
  const clock = new HandClock();
  const warnings: string[] = [];
  const reasons: unknown[] = [];
  const generations = { prune: vi.fn(async (_beforeMs: number, _limit: number) => 0) };
  const refused = { prune: vi.fn(async (_beforeMs: number, _limit: number) => 0) };
  const contents = { prune: vi.fn(async () => 0) };
  const events = { prune: vi.fn(async (_beforeMs: number) => 0) };
  const callCounts = { pruneOldest: vi.fn(async (_hour: number) => 0) };
  const retention = new Retention({
    settings: () => ({ eventsDays: 400, contentDays: 30, contentBytes: 1000 }),
    generations,
    refused,
    events,
    callCounts,
    contents,
    clock,
    log: {
      warn(message, fields) {
        warnings.push(message);
        reasons.push(fields?.reason);
      },
    },
    everyMs: 5,
    ...changes,
  });
  return { retention, clock, warnings, reasons, generations, refused, events, callCounts, contents };
}

describe('Retention', () => {
  it('removes content that is too old or too much, at the start and at intervals', async () => {
    const { retention, clock, generations, refused, contents } = openRetention();
    await expect.poll(() => contents.prune.mock.calls.length).toBeGreaterThan(2);
    await retention.close();
    expect(generations.prune.mock.calls[0]?.[0]).toBe(clock.now() - 400 * DAY_MS);
    expect(refused.prune.mock.calls[0]?.[0]).toBe(clock.now() - 400 * DAY_MS);
    expect(contents.prune).toHaveBeenCalledWith({ beforeMs: clock.now() - 30 * DAY_MS, maxBytes: 1000 });
    const calls = contents.prune.mock.calls.length;
    await new Promise((resolve) => setTimeout(resolve, 30));
    expect(contents.prune.mock.calls.length).toBe(calls);
  });

  it('removes many rows in small batches', async () => {
    let left = 1000;
    const prune = vi.fn(async (_beforeMs: number, limit: number) => {
      const removed = Math.min(left, limit);
      left -= removed;
      return removed;
    });
    const { retention } = openRetention({ generations: { prune }, everyMs: 60_000 });
    await expect.poll(() => left).toBe(0);
    await retention.close();
    for (const [, limit] of prune.mock.calls) expect(limit).toBeLessThanOrEqual(200);
  });

  it('removes events at the start and once a day, and tries again when that fails', async () => {
    const { retention, clock, warnings, reasons, events, contents } = openRetention();
    const refused = Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
    events.prune.mockRejectedValueOnce(new Error('away', { cause: refused }));
    const rounds = async (count: number) => {
      const before = contents.prune.mock.calls.length;
      await expect.poll(() => contents.prune.mock.calls.length).toBeGreaterThan(before + count);
    };
    await rounds(3);
    expect(warnings).toEqual([expect.stringContaining('events that are due could not be removed')]);
    expect(reasons).toEqual(['ECONNREFUSED']);
    expect(events.prune.mock.calls).toEqual([[clock.now() - 400 * DAY_MS], [clock.now() - 400 * DAY_MS]]);
    clock.pass(DAY_MS);
    await rounds(2);
    await retention.close();
    expect(events.prune.mock.calls.slice(2)).toEqual([[clock.now() - 400 * DAY_MS]]);
  });

  it('removes calls of endpoints older than 31 days, until none is left', async () => {
    const { retention, clock, callCounts, contents } = openRetention({ everyMs: 60_000 });
    callCounts.pruneOldest.mockResolvedValueOnce(7).mockResolvedValueOnce(1);
    await expect.poll(() => contents.prune.mock.calls.length).toBe(1);
    await retention.close();
    const hour = Math.floor((clock.now() - 31 * DAY_MS) / 3_600_000);
    expect(callCounts.pruneOldest.mock.calls).toEqual([[hour], [hour], [hour]]);
  });

  it('goes on after a failure, and logs it without a path', async () => {
    const failing = async () => {
      throw Object.assign(new Error('EIO: /secret/path'), { code: 'EIO' });
    };
    const { retention, warnings, contents } = openRetention({ generations: { prune: failing } });
    await expect.poll(() => contents.prune.mock.calls.length).toBeGreaterThan(1);
    await retention.close();
    expect(warnings[0]).toContain('rows of generations');
    expect(warnings.join()).not.toContain('/secret');
  });
});
