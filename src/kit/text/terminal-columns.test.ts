import { describe, expect, it } from 'vitest';
import { terminalColumns } from './terminal-columns.ts';

describe('terminalColumns', () => {
  it.each([
    ['', 0],
    ['acme', 4],
    ['caf\u00e9', 4],
    ['cafe\u0301', 4],
    ['\u6771\u4eac', 4],
    ['\u30ab\ud55c', 4],
    ['\uff76', 1],
    ['\uff21', 2],
    ['\u{1f680}', 2],
    ['\u{20000}', 2],
  ])('of %s', (text, columns) => {
    expect(terminalColumns(text)).toBe(columns);
  });
});
