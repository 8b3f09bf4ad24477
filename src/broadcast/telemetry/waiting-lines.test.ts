import { describe, expect, it } from 'vitest';
import { MAX_WAITING_LINES, WaitingLines } from './waiting-lines.ts';

function filled(count: number, lineOf: (place: number) => string): WaitingLines {
  const lines = new WaitingLines();
  for (let place = 0; place < count; place++) lines.add(lineOf(place));
  return lines;
}

function allOf(lines: WaitingLines): string[] {
  const all: string[] = [];
  while (lines.count > 0) all.push(...lines.take());
  return all;
}

describe('WaitingLines', () => {
  it('gives all lines in their order, in parts', () => {
    const lines = filled(2_500, String);
    expect(lines.take().length).toBe(1_000);
    lines.add('last');
    expect(allOf(lines)).toEqual([
      ...Array.from({ length: 1_500 }, (_, place) => String(place + 1_000)),
      'last',
    ]);
    expect(lines.dropped).toBe(0);
    expect(lines.take()).toEqual([]);
  });

  it('drops and counts the oldest beyond a number', () => {
    const lines = filled(MAX_WAITING_LINES + 30, String);
    expect(lines.count).toBe(MAX_WAITING_LINES);
    expect(lines.dropped).toBe(30);
    expect(allOf(lines)[0]).toBe('30');
  });

  it('drops and counts the oldest beyond an amount of text, and sends long ones in small parts', () => {
    const long = 'x'.repeat(1024 * 1024);
    const lines = filled(10, (place) => `${place}${long}`);
    expect(lines.count).toBe(7);
    expect(lines.dropped).toBe(3);
    expect(lines.take().map(([first]) => first)).toEqual(['3']);
    lines.noteDropped(['a', 'b']);
    expect(lines.dropped).toBe(5);
  });
});
