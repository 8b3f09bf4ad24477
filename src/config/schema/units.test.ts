import { describe, expect, it } from 'vitest';
import { readQuantity, type Unit } from './units.ts';

describe('readQuantity', () => {
  it.each<[string, Unit, number | undefined]>([
    ['500ms', 'ms', 500],
    ['30s', 'ms', 30_000],
    ['1.5 s', 'ms', 1500],
    ['10m', 'ms', 600_000],
    ['10min', 'ms', 600_000],
    ['1h', 'ms', 3_600_000],
    ['2d', 'ms', 172_800_000],
    ['250', 'ms', 250],
    ['0.1ms', 'ms', undefined],
    ['30d', 'days', 30],
    ['48h', 'days', 2],
    ['12h', 'days', undefined],
    ['400', 'days', 400],
    ['32MiB', 'bytes', 33_554_432],
    ['32mib', 'bytes', 33_554_432],
    ['1.5KiB', 'bytes', 1536],
    ['500kB', 'bytes', 500_000],
    ['10 GB', 'bytes', 10_000_000_000],
    ['10TiB', 'bytes', 10_995_116_277_760],
    ['100B', 'bytes', 100],
    ['1s', 'bytes', undefined],
    ['1MiB', 'ms', undefined],
    ['-1s', 'ms', undefined],
    ['1e3', 'ms', undefined],
    ['toString', 'ms', undefined],
    ['1toString', 'ms', undefined],
    ['', 'ms', undefined],
  ])('reads %j as %s: %s', (text, unit, quantity) => {
    expect(readQuantity(text, unit)).toBe(quantity);
  });
});
