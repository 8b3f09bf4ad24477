import { describe, expect, it } from 'vitest';
import { CUSTODY, sendBack } from './custody.ts';
import { WAYS } from './judge-answer.ts';
import { issuesOf, leadsSomewhere } from './judge-request.ts';
import { FORMATS, UPSTREAMS } from './verdict.ts';
import { problemsOf } from './well-formed.ts';

const PAIRS = UPSTREAMS.flatMap((maker) => UPSTREAMS.map((upstream) => ({ maker, upstream })));

/** What the gateway wraps seals of other families in. */
const WRAPPER = 'sealed.v1.';

describe.each(CUSTODY)('$title', (row) => {
  it.each(PAIRS)('made by $maker, sent back to $upstream', ({ maker, upstream }) => {
    const told = row.verdicts[maker]?.trim().split(/\s+/)[UPSTREAMS.indexOf(upstream)];
    for (const format of FORMATS) {
      for (const way of WAYS) {
        const back = sendBack(row, maker, format, upstream, way);
        expect(back?.verdict, `${format}, ${way}`).toBe(told);
        if (back === undefined) continue;
        const { asked, sent } = back;
        const text = JSON.stringify(sent.body);
        expect(issuesOf(format, asked)).toEqual([]);
        expect(text).not.toContain(WRAPPER);
        if (told !== 'kept') expect(text).not.toContain(row.secret);
        expect(sent.report.filter(({ field }) => !leadsSomewhere(field, asked))).toEqual([]);
        expect(problemsOf(upstream, sent.body ?? {})).toEqual([]);
      }
    }
  });
});
