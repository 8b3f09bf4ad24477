import { describe, expect, it } from 'vitest';
import { ANSWER_MATRIX } from './answer-matrix.ts';
import { judgeAnswer, WAYS } from './judge-answer.ts';
import { lanesOf } from './judge-request.ts';
import { FORMATS, UPSTREAMS, verdictIn } from './verdict.ts';

const PAIRS = FORMATS.flatMap((format) => UPSTREAMS.map((upstream) => ({ format, upstream })));

describe.each(ANSWER_MATRIX)('$title', (feature) => {
  it.each(PAIRS)('$upstream to $format', ({ format, upstream }) => {
    const told = verdictIn(feature.verdicts, format, upstream);
    for (const lane of lanesOf(format, upstream)) {
      for (const way of WAYS) {
        expect(judgeAnswer(feature, format, upstream, lane, way), `${lane}, ${way}`).toBe(told);
      }
    }
  });
});
