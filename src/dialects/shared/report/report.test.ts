import { describe, expect, it } from 'vitest';
import { requestOf } from '../../../../test/kit/builders/request.ts';
import { Report } from './report.ts';

describe('a translation report', () => {
  it('lists equal losses once', () => {
    const report = new Report(requestOf());
    report.dropped('top_k', 'not taken');
    report.dropped('top_k', 'not taken');
    report.coerced('top_k', 'not taken');
    expect(report.entries.map(({ action }) => action)).toEqual(['dropped', 'coerced']);
  });

  it('lists a hundred losses and says how many more there are', () => {
    const report = new Report(requestOf());
    for (let index = 0; index < 100; index++) report.dropped(`tools[${index}]`, 'not taken');
    expect(report.entries).toHaveLength(100);
    expect(report.entries.at(-1)?.field).toBe('tools[99]');
    for (let index = 100; index < 20_000; index++) report.dropped(`tools[${index}]`, 'not taken');
    expect(report.entries).toHaveLength(101);
    expect(report.entries.at(-1)).toEqual({
      field: '...',
      action: 'dropped',
      detail: '19900 more losses or changes are not listed',
    });
  });

  it('cuts long names and details', () => {
    const report = new Report(requestOf());
    report.dropped('x'.repeat(1_000_000), 'y'.repeat(1_000_000));
    expect(JSON.stringify(report.entries).length).toBeLessThan(1100);
  });
});
