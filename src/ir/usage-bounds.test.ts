import { describe, expect, it } from 'vitest';
import { NO_USAGE } from './usage.ts';
import { isConceivable, plausible as plausibleUsage, type UsageBounds } from './usage-bounds.ts';

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

it('counts no more of the tools of an answer than a hundred calls can be', () => {
  const usage = { ...NO_USAGE, source: 'measured' as const };
  const within = { ...usage, hosted: { code_execution: 64, image_generation: 50_000 } };
  expect(plausibleUsage(within, UNKNOWN)).toBe(within);
  const beyond = { ...usage, hosted: { code_execution: 2, image_generation: 1e9 } };
  expect(plausibleUsage(beyond, UNKNOWN)?.hosted).toEqual({ code_execution: 2, image_generation: 6_000_000 });
});

describe('counts of which some model is capable', () => {
  const conceivable = (counts: Partial<typeof NO_USAGE>, bounds: Partial<UsageBounds> = {}) =>
    isConceivable({ ...NO_USAGE, source: 'measured', ...counts }, { ...UNKNOWN, ...bounds });
  const other = (inputTokens: number) => ({ model: 'm', usage: { ...NO_USAGE, inputTokens } });

  it.each<[string, Parameters<typeof conceivable>]>([
    [
      'of a model that the catalogue takes for a smaller one',
      [
        { inputTokens: 10e6, outputTokens: 1e6 },
        { contextLength: 8_192, maxOutputTokens: 256 },
      ],
    ],
    ['of a larger context', [{ inputTokens: 19e6 }, { contextLength: 10e6 }]],
    ['of prompts that the upstream keeps', [{ inputTokens: 2e6 }, { promptCharacters: 5 }]],
    ['of several passes', [{ inputTokens: 50e6, hostedCalls: 5 }]],
    ['of more searches than were allowed', [{ webSearchRequests: 800 }, { searches: 0 }]],
    ['of advisors', [{ others: [other(9e6), other(9e6)] }]],
  ])('%s', (_name, given) => {
    expect(conceivable(...given)).toBe(true);
  });

  it.each<[string, Parameters<typeof conceivable>]>([
    ['a prompt', [{ inputTokens: 11e6 }]],
    ['an answer', [{ outputTokens: 1e9 }]],
    ['passes without tools', [{ inputTokens: 50e6, hostedCalls: 5 }, { toolCalls: 0 }]],
    ['searches', [{ webSearchRequests: 1e6 }]],
    ['pictures', [{ hosted: { image_generation: 1e9 } }]],
    ['the prompt of an advisor', [{ others: [other(1e9)] }]],
    ['advisors', [{ others: Array.from({ length: 101 }, () => other(1)) }]],
  ])('not of %s beyond that', (_name, given) => {
    expect(conceivable(...given)).toBe(false);
  });
});
