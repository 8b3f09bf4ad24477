import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { boundsAt, isOver, RESET_WINDOWS, windowsAt } from './windows.ts';

const at = (text: string) => Date.parse(text);

const moments = fc.integer({ min: at('1971-01-01T00:00:00Z'), max: at('2199-12-31T00:00:00Z') });

describe('windows', () => {
  it.each([
    ['daily', '2024-02-29T00:00:00.000Z', '2024-02-29T00:00:00Z', '2024-03-01T00:00:00Z'],
    ['daily', '2024-02-29T23:59:59.999Z', '2024-02-29T00:00:00Z', '2024-03-01T00:00:00Z'],
    ['weekly', '2024-12-30T00:00:00.000Z', '2024-12-30T00:00:00Z', '2025-01-06T00:00:00Z'],
    ['weekly', '2025-01-05T23:59:59.999Z', '2024-12-30T00:00:00Z', '2025-01-06T00:00:00Z'],
    ['monthly', '2024-02-29T12:00:00.000Z', '2024-02-01T00:00:00Z', '2024-03-01T00:00:00Z'],
    ['monthly', '2025-12-31T23:59:59.999Z', '2025-12-01T00:00:00Z', '2026-01-01T00:00:00Z'],
  ] as const)('%s around %s', (window, moment, start, end) => {
    expect(boundsAt(window, at(moment))).toEqual({ startMs: at(start), endMs: at(end) });
  });

  it('hold their moment, follow each other without a gap, and begin on UTC days; weeks on Mondays', () => {
    fc.assert(
      fc.property(moments, fc.constantFrom(...RESET_WINDOWS), (ms, window) => {
        const { startMs, endMs } = boundsAt(window, ms);
        expect(startMs <= ms && ms < endMs).toBe(true);
        expect(boundsAt(window, endMs).startMs).toBe(endMs);
        expect(boundsAt(window, endMs - 1).startMs).toBe(startMs);
        expect(startMs % 86_400_000).toBe(0);
        if (window === 'weekly') expect(new Date(startMs).getUTCDay()).toBe(1);
        if (window === 'monthly') expect(new Date(startMs).getUTCDate()).toBe(1);
      }),
    );
  });

  it('are numbered one after the other', () => {
    fc.assert(
      fc.property(moments, fc.constantFrom(...RESET_WINDOWS), (ms, window) => {
        const { startMs, endMs } = boundsAt(window, ms);
        const number = windowsAt(ms)[window];
        expect(windowsAt(startMs)[window]).toBe(number);
        expect(windowsAt(endMs)[window]).toBe(number + 1);
      }),
    );
  });

  it('are over when a later one has begun, and by no clock that is set back', () => {
    expect([8, 9, 10, 11, 12].map((at) => isOver(10, at))).toEqual([false, false, false, true, true]);
  });
});
