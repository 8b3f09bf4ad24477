import { describe, expect, it } from 'vitest';
import { maskedLabel } from './masked-label.ts';

describe('maskedLabel', () => {
  it('shows the first three and the last four characters, the prefix counted', () => {
    expect(maskedLabel('sk-sb-v1-0123456789abcdef')).toBe('sk-...cdef');
  });

  it('shows nothing of a secret shorter than twelve characters', () => {
    expect(maskedLabel('12345678901')).toBe('...');
    expect(maskedLabel('123456789012')).toBe('123...9012');
    expect(maskedLabel('')).toBe('...');
  });
});
