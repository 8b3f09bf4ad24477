import { describe, expect, it } from 'vitest';
import { sourceText, valueText } from './value-words.ts';

const SOURCE = { kind: 'default', line: null, variables: [], flag: null } as const;

describe('sourceText', () => {
  it('names the line, the variables or the flag', () => {
    expect(sourceText({ ...SOURCE, variables: [] })).toBe('default');
    expect(sourceText({ ...SOURCE, kind: 'file', line: 12, variables: [] })).toBe('line 12');
    expect(sourceText({ ...SOURCE, kind: 'flag', flag: '--port', variables: [] })).toBe('--port');
    expect(sourceText({ ...SOURCE, kind: 'environment', line: 3, variables: ['A', 'B'] })).toBe(
      'A, B, line 3',
    );
  });
});

describe('valueText', () => {
  it('shows texts as they are, and none as a dash', () => {
    expect([valueText('a'), valueText(null), valueText(5), valueText(['x'])]).toEqual([
      'a',
      '–',
      '5',
      '["x"]',
    ]);
  });
});
