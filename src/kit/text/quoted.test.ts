import { describe, expect, it } from 'vitest';
import { quoted, shortened } from './quoted.ts';

describe('foreign text in a message', () => {
  it('is shown whole when it is short', () => {
    expect(shortened('acme/small')).toBe('acme/small');
    expect(quoted('x'.repeat(100))).toBe(`"${'x'.repeat(100)}"`);
  });

  it('is cut when it is long', () => {
    expect(shortened('x'.repeat(1_000_000))).toBe(`${'x'.repeat(99)}…`);
    expect(quoted('x'.repeat(101))).toHaveLength(102);
  });
});
