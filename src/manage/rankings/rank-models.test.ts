import { describe, expect, it } from 'vitest';
import { dayText } from '../../contract/analytics/dataset-window.ts';
import { runAtOnce } from '../../kit/loop/turns.ts';
import type { EventRow } from '../../ports/events/events.ts';
import { modelFilters, queryWindows, rankModels } from './rank-models.ts';

const DAY_MS = 86_400_000;

const row = (bucketMs: number, model: string, tokens: number): EventRow => ({
  bucketMs,
  dimensions: [model],
  metrics: [BigInt(tokens)],
});

describe('rankModels', () => {
  it('goes by period, tokens and slug', () => {
    const rows = [row(2, 'a', 5), row(1, 'c', 5), row(1, 'b', 5), row(1, 'd', 9), row(2, 'z', 0)];
    expect(runAtOnce(rankModels(rows)).map(({ periodMs, model }) => [periodMs, model])).toEqual([
      [1, 'd'],
      [1, 'b'],
      [1, 'c'],
      [2, 'a'],
    ]);
  });

  it('sums up what is beyond the first 50, and puts it last', () => {
    const rows = Array.from({ length: 53 }, (_, index) => row(1, `m/${index}`, 100 + index));
    const ranked = runAtOnce(rankModels(rows));
    expect(ranked).toHaveLength(51);
    expect(ranked[0]).toEqual({ periodMs: 1, model: 'm/52', tokens: 152n });
    expect(ranked[50]).toEqual({ periodMs: 1, model: 'other', tokens: 303n });
    const named = runAtOnce(rankModels(rows.slice(0, 50)));
    expect(named.some(({ model }) => model === 'other')).toBe(false);
  });

  it('is done in slices, a few hundred rows in each', () => {
    const rows = Array.from({ length: 10_000 }, (_, index) => row(index % 30, `m/${index}`, index));
    const work = rankModels(rows);
    let slices = 1;
    while (work.next().done !== true) slices++;
    expect(slices).toBeGreaterThan(rows.length / 256);
  });
});

describe('queryWindows', () => {
  const window = { startMs: Date.UTC(2025, 0, 1), endMs: Date.UTC(2026, 0, 2) };

  it.each(['day', 'week', 'month'] as const)('covers a year in pieces of whole periods: %s', (period) => {
    const pieces = [...queryWindows(window, period)];
    expect(pieces.at(0)?.startMs).toBe(window.startMs);
    expect(pieces.at(-1)?.endMs).toBe(window.endMs);
    for (const [index, { endMs }] of pieces.slice(0, -1).entries()) {
      expect(pieces[index + 1]?.startMs).toBe(endMs);
      const date = new Date(endMs);
      if (period === 'week') expect(date.getUTCDay()).toBe(1);
      if (period === 'month') expect(date.getUTCDate()).toBe(1);
      expect(endMs % DAY_MS).toBe(0);
    }
    expect(pieces.length).toBe({ day: 12, week: 2, month: 1 }[period]);
  });

  it('has one piece for one day', () => {
    const [piece] = queryWindows({ startMs: window.startMs, endMs: window.startMs + DAY_MS }, 'month');
    expect(dayText(piece?.startMs ?? 0)).toBe('2025-01-01');
    expect(dayText(piece?.endMs ?? 0)).toBe('2025-01-02');
  });
});

describe('modelFilters', () => {
  const textsOf = (modality: 'text' | 'image' | 'tool_calling') =>
    modelFilters({ modality }).find(({ field }) => field === 'modalities')?.values;

  it('always leaves out what asked for zero retention', () => {
    expect(modelFilters({})).toEqual([
      { field: 'zdr', operator: 'in', values: ['false'], includesUnset: false },
    ]);
  });

  it('finds a modality wherever it is among others', () => {
    expect(textsOf('text')).toEqual(['', 'tool_calling']);
    const image = textsOf('image') ?? [];
    expect(image).toHaveLength(8);
    expect(image.every((text) => text.split('+').includes('image'))).toBe(true);
    expect(textsOf('tool_calling')).toContain('image+image_output+audio+tool_calling');
  });
});
