import { describe, expect, it } from 'vitest';
import { NO_USAGE, plausible as plausibleUsage, tokenCount, type UsageBounds } from './usage.ts';

const UNKNOWN: UsageBounds = {
  contextLength: undefined,
  maxOutputTokens: undefined,
  promptCharacters: undefined,
  searches: 5,
  toolCalls: 5,
  mayCompact: false,
  modelCalls: 0,
  mayFallBack: false,
};

function plausible(counts: Partial<typeof NO_USAGE>, bounds: Partial<UsageBounds>): boolean {
  const usage = { ...NO_USAGE, source: 'measured' as const, ...counts };
  return plausibleUsage(usage, { ...UNKNOWN, ...bounds }) !== undefined;
}

describe('counts that an upstream reports', () => {
  it.each<[string, Parameters<typeof plausible>]>([
    ['nothing', [{}, { contextLength: 1000, maxOutputTokens: 10, promptCharacters: 0 }]],
    ['a full context', [{ inputTokens: 200_000, outputTokens: 64_000 }, { contextLength: 200_000 }]],
    ['a context that has grown since', [{ inputTokens: 390_000 }, { contextLength: 200_000 }]],
    ['rare characters', [{ inputTokens: 300_000 }, { promptCharacters: 100_000 }]],
    ['instructions of the provider', [{ inputTokens: 20_000 }, { promptCharacters: 5 }]],
    ['a prompt of images', [{ inputTokens: 900_000 }, { contextLength: 1_000_000 }]],
    [
      'pages that were looked up',
      [
        { inputTokens: 900_000, webSearchRequests: 5 },
        { contextLength: 200_000, promptCharacters: 50 },
      ],
    ],
    [
      'a context that was compacted first',
      [{ inputTokens: 500_000 }, { contextLength: 200_000, mayCompact: true }],
    ],
    ['an answer of full length', [{ outputTokens: 8192 }, { maxOutputTokens: 8192 }]],
    ['much where nothing is known', [{ inputTokens: 4e6, outputTokens: 4e6 }, {}]],
  ])('can be true: %s', (_name, given) => {
    expect(plausible(...given)).toBe(true);
  });

  it.each<[string, Parameters<typeof plausible>]>([
    ['two contexts and nothing compacted', [{ inputTokens: 500_000 }, { contextLength: 200_000 }]],
    ['more than any context', [{ outputTokens: 1e9 }, {}]],
    ['far more than the context', [{ inputTokens: 999_999_999 }, { contextLength: 200_000 }]],
    ['far more than the prompt', [{ inputTokens: 999_999_999 }, { promptCharacters: 12 }]],
    [
      'more than the prompt, within a large context',
      [{ inputTokens: 1_000_000 }, { contextLength: 9_000_000, promptCharacters: 12 }],
    ],
    ['far more than it writes', [{ outputTokens: 1_000_000 }, { maxOutputTokens: 8192 }]],
    ['more output than context', [{ outputTokens: 999_999_999 }, { contextLength: 200_000 }]],
    [
      'searches that do not explain it',
      [{ inputTokens: 999_999_999, webSearchRequests: 5 }, { contextLength: 200_000 }],
    ],
    [
      'searches that were not asked for, as the reason of a long prompt',
      [
        { inputTokens: 900_000, webSearchRequests: 1_000_000 },
        { contextLength: 200_000, promptCharacters: 50, searches: 0 },
      ],
    ],
  ])('cannot be true: %s', (_name, given) => {
    expect(plausible(...given)).toBe(false);
  });
});

describe('searches that an upstream reports', () => {
  it.each([
    [1_000_000, 0, 0],
    [3, 5, 3],
    [9, 5, 5],
    [1_000_000, Number.POSITIVE_INFINITY, 100],
  ])('%i of at most %d asked for count as %i', (webSearchRequests, searches, counted) => {
    const usage = { ...NO_USAGE, source: 'measured' as const, webSearchRequests };
    expect(plausibleUsage(usage, { ...UNKNOWN, searches })).toEqual({ ...usage, webSearchRequests: counted });
  });
});

describe('a count', () => {
  it.each([0, 7, 1_000_000_000])('is %s', (value) => {
    expect(tokenCount(value)).toBe(value);
  });

  it.each([-1, 1.5, 1e30, Number.NaN, '7', null, undefined])('is not %s', (value) => {
    expect(tokenCount(value)).toBeUndefined();
  });
});
