import { describe, expect, it } from 'vitest';
import { ProgressBar, progressText } from './progress-bar.ts';

const ERASE = '\r\u001b[K';

describe('progressText', () => {
  it('shows how far it is, and how fast', () => {
    const text = progressText({ bytes: 500, ofBytes: 1_000, lines: 41_000, elapsedMs: 2_000 });
    expect(text).toBe(`[${'#'.repeat(15)}${'.'.repeat(15)}]  50 %  41,000 lines, 20,500 a second`);
  });

  it('shows no share of what has no size, and never more than all', () => {
    expect(progressText({ bytes: 5, ofBytes: 0, lines: 1, elapsedMs: 1_000 })).toBe('1 lines, 1 a second');
    expect(progressText({ bytes: 20, ofBytes: 10, lines: 0, elapsedMs: 0 })).toContain(
      '100 %  0 lines, 0 a second',
    );
  });
});

it('draws on one line, and not more often than eyes can see', () => {
  const written: string[] = [];
  const bar = new ProgressBar((text) => written.push(text));
  for (let elapsedMs = 0; elapsedMs < 1_000; elapsedMs++) {
    bar.show({ bytes: elapsedMs, ofBytes: 1_000, lines: 1, elapsedMs });
  }
  bar.clear();
  expect(written).toHaveLength(11);
  for (const text of written) {
    expect(text.startsWith(ERASE)).toBe(true);
    expect(text).not.toContain('\n');
  }
  expect(written.at(-1)).toBe(ERASE);
});
