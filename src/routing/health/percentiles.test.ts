import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LATENCY, RollingHistogram, THROUGHPUT } from './percentiles.ts';

const SHARES = { p50: 0.5, p75: 0.75, p90: 0.9, p99: 0.99 };

describe.each([
  ['latency', LATENCY, { min: 2, max: 300_000 }],
  ['throughput', THROUGHPUT, { min: 0.25, max: 40_000 }],
] as const)('RollingHistogram of %s', (_, scale, range) => {
  const values = fc.array(fc.double({ ...range, noNaN: true }), { minLength: 1, maxLength: 300 });

  it('is exact to 5 percent', () => {
    fc.assert(
      fc.property(values, (list) => {
        const histogram = new RollingHistogram(scale, 5, 60_000);
        for (const value of list) histogram.add(histogram.bucketOf(value), 1, 0);
        const goodFirst = list.toSorted((a, b) => (scale.better === 'lower' ? a - b : b - a));
        const percentiles = histogram.percentiles(0);
        for (const [name, share] of Object.entries(SHARES)) {
          const exact = goodFirst[Math.ceil(share * list.length) - 1] ?? Number.NaN;
          const told = percentiles?.[name as keyof typeof SHARES] ?? Number.NaN;
          expect(Math.abs(told / exact - 1)).toBeLessThan(0.05);
        }
      }),
    );
  });

  it('counts values off the scale as its ends', () => {
    const histogram = new RollingHistogram(scale, 5, 60_000);
    for (const value of [0, 1e-9, 1e12, Number.MAX_VALUE]) histogram.add(histogram.bucketOf(value), 1, 0);
    const { p50 = 0, p99 = 0 } = histogram.percentiles(0) ?? {};
    expect(Math.min(p50, p99) / scale.least).toBeCloseTo(1.05, 1);
    expect(Math.max(p50, p99)).toBeGreaterThan(range.max);
  });

  it('drops old values', () => {
    const histogram = new RollingHistogram(scale, 5, 60_000);
    histogram.add(histogram.bucketOf(50), 1, 0);
    expect(histogram.percentiles(299_999)).toBeDefined();
    expect(histogram.percentiles(300_000)).toBeUndefined();
  });
});
