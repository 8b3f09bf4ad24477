import { describe, expect, it } from 'vitest';
import { writtenMoment } from './written-moment.ts';

describe('a moment in ISO 8601', () => {
  it.each([
    0, 5, 999, 1000, 1_700_000_000_005, 1_700_000_000_050, 1_700_000_000_500, 1_700_000_000_999,
    1_700_000_001_000, 1_699_999_999_999, -1, -1000, 253_402_300_800_000,
  ])('is what a date writes (%d)', (epochMs) => {
    expect(writtenMoment(epochMs)).toBe(new Date(epochMs).toISOString());
  });

  it('is none beyond what a date can be', () => {
    expect(() => writtenMoment(9e15)).toThrow(RangeError);
    expect(writtenMoment(0)).toBe('1970-01-01T00:00:00.000Z');
  });
});
