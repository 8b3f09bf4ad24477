import { describe, expect, it } from 'vitest';
import { issuesOf, lanesOf, leadsSomewhere, send } from './judge-request.ts';
import { REQUEST_MATRIX } from './request-matrix.ts';
import { FORMATS, LOST, UPSTREAMS, verdictIn } from './verdict.ts';
import { problemsOf } from './well-formed.ts';

const PAIRS = FORMATS.flatMap((format) => UPSTREAMS.map((upstream) => ({ format, upstream })));
const FEATURES = REQUEST_MATRIX.flatMap(({ features }) => features);

it('has one row for each title', () => {
  expect(new Set(FEATURES.map(({ title }) => title)).size).toBe(FEATURES.length);
});

describe.each(FEATURES)('$title', (feature) => {
  it.each(FORMATS.filter((format) => feature.asked[format] !== undefined))('is valid in %s', (format) => {
    expect(issuesOf(format, feature.asked[format] ?? {})).toEqual([]);
  });

  it.each(PAIRS)('$format to $upstream', ({ format, upstream }) => {
    const told = verdictIn(feature.verdicts, format, upstream);
    const body = feature.asked[format];
    if (body === undefined) {
      expect(told).toBe('-');
      return;
    }
    const [lane = 'translate', ...others] = lanesOf(format, upstream);
    const sent = send(feature, body, format, upstream, lane);
    expect(sent.verdict, JSON.stringify(sent)).toBe(told);
    for (const each of [sent, ...others.map((other) => send(feature, body, format, upstream, other))]) {
      expect(each.verdict, JSON.stringify(each)).not.toBe(LOST);
      if (each.verdict === 'dropped') expect(each.report.map(({ action }) => action)).toContain('dropped');
      expect(each.report.filter(({ field }) => !leadsSomewhere(field, body))).toEqual([]);
      if (each.body !== undefined) expect(problemsOf(upstream, each.body)).toEqual([]);
    }
  });
});
