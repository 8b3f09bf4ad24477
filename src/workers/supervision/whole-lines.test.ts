import { describe, expect, it } from 'vitest';
import { WholeLines } from './whole-lines.ts';

describe('WholeLines', () => {
  const passed = (pieces: readonly string[]): string[] => {
    const lines: string[] = [];
    const whole = new WholeLines((text) => lines.push(text));
    for (const piece of pieces) whole.push(Buffer.from(piece, 'latin1'));
    whole.end();
    return lines;
  };

  it('passes several lines on together, and waits for the end of a cut one', () => {
    expect(passed(['one\ntwo\nthr', 'e', 'e\nfour\n'])).toEqual(['one\ntwo\n', 'three\nfour\n']);
  });

  it('passes a last line without an end', () => {
    expect(passed(['fatal error'])).toEqual(['fatal error\n']);
    expect(passed(['one\n'])).toEqual(['one\n']);
  });

  it('does not break characters that come in two pieces', () => {
    expect(passed(['gr\u00c3', '\u00bcn\n'])).toEqual(['grün\n']);
  });
});
