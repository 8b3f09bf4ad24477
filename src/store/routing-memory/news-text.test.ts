import { describe, expect, it } from 'vitest';
import type { HealthReport } from '../../ports/shared/routing-memory.ts';
import { newsFromText, newsText } from './news-text.ts';

const REPORT: HealthReport = {
  site: 'acme/one',
  account: null,
  hasSucceeded: false,
  failures: [{ account: 'a', count: 2 }],
  cooldown: { leftMs: 12.5, round: 1, failures: 3 },
  isBack: false,
  pauseMs: 0,
  deferralMs: 0.25,
  measured: {
    calls: 5,
    failures: 1,
    failuresOfOne: 0,
    toolAnswers: 2,
    badToolAnswers: 1,
    latency: [
      [3, 1],
      [7, 4],
    ],
    throughput: [],
  },
};

const healthIn = (text: string) => newsFromText(text, 10).map(({ health }) => health);

describe('the text of news', () => {
  it('is read as it was written', () => {
    const news = {
      health: [REPORT, { ...REPORT, account: 'b', cooldown: null, measured: null }],
      movedPins: ['k'],
    };
    expect(newsFromText(newsText(news) ?? '', 10)).toEqual([{ ...news, ageMs: 10 }]);
  });

  it('is null without news', () => {
    expect(newsText({ health: [], movedPins: [] })).toBeNull();
  });

  it.each(['', 'null', '[]', '{"health":{}}', '{"health":[],"movedPins":1}', '{"health":', '"news"'])(
    'of another form has no news: %s',
    (text) => {
      expect(newsFromText(text, 10)).toEqual([]);
    },
  );

  it.each([
    null,
    'report',
    {},
    { ...REPORT, site: 5 },
    { ...REPORT, failures: null },
    { ...REPORT, failures: [null] },
    { ...REPORT, failures: [{ account: 'a', count: -1 }] },
    { ...REPORT, cooldown: {} },
    { ...REPORT, cooldown: { leftMs: 'soon', round: 1, failures: 1 } },
    { ...REPORT, pauseMs: -1 },
    { ...REPORT, measured: [] },
    { ...REPORT, measured: { ...REPORT.measured, latency: [[1]] } },
    { ...REPORT, measured: { ...REPORT.measured, latency: [['1', 2]] } },
  ])('leaves out a report of another form, and keeps those beside it: %j', (bad) => {
    expect(healthIn(JSON.stringify({ health: [bad, REPORT], movedPins: [] }))).toEqual([[REPORT]]);
  });

  it('may have members of later versions, and leaves out keys that are no texts', () => {
    const later = { ...REPORT, region: 'eu' };
    expect(newsFromText(JSON.stringify({ health: [later], movedPins: [1, 'k'], more: 1 }), -5)).toEqual([
      { health: [later], movedPins: ['k'], ageMs: 0 },
    ]);
  });
});
