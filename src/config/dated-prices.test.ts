import { describe, expect, it } from 'vitest';
import type { KnownProviders } from './known-providers.ts';
import { momentMs } from './moment.ts';
import { parseConfig } from './parse-config.ts';

const knownProviders: KnownProviders = {
  has: () => true,
  issuesOf: () => [],
  complete: (providers) => ({ providers, keys: [], problems: [], warnings: [] }),
};

function read(endpoint: string) {
  return parseConfig(`models: [{ id: a/b, endpoints: [{ provider: p, ${endpoint} }] }]`, {}, knownProviders);
}

function problemsOf(endpoint: string): string[] {
  const reading = read(endpoint);
  return reading.ok ? [] : reading.problems.map(({ path, message }) => `${path}: ${message}`);
}

describe('prices of a configuration', () => {
  it('may begin on a day, and depend on the length of the prompt', () => {
    const reading = read(
      'pricing: { prompt: "1", overrides: [{ min_prompt_tokens: 9, prompt: "2" }] }, prices: [{ from: 2027-01-01, pricing: { prompt: "3" } }, { from: "2027-01-01T12:00:00Z", pricing: {} }]',
    );
    expect(reading.ok && reading.config.models[0]?.endpoints[0]).toMatchObject({
      pricing: { prompt: '1', overrides: [{ min_prompt_tokens: 9, prompt: '2' }] },
      prices: [{ from: '2027-01-01' }, { from: '2027-01-01T12:00:00Z' }],
    });
  });

  it.each([
    ['prices: [{ from: soon, pricing: {} }]', 'prices[0].from: must be a day such as 2026-05-01'],
    ['prices: [{ from: 2027-02-30, pricing: {} }]', 'prices[0].from: is not in the calendar'],
    [
      'prices: [{ from: 2027-02-02, pricing: {} }, { from: 2027-02-01, pricing: {} }]',
      'prices[1].from: must come after the one before it',
    ],
    ['pricing: { overrides: [{ prompt: "1" }] }', 'pricing.overrides[0].min_prompt_tokens: is required'],
  ])('%s', (endpoint, problem) => {
    expect(problemsOf(endpoint)).toHaveLength(1);
    expect(problemsOf(endpoint)[0]).toContain(`models[0].endpoints[0].${problem}`);
  });
});

describe('momentMs', () => {
  it('reads days and moments that a calendar has', () => {
    expect(momentMs('1970-01-02')).toBe(86_400_000);
    expect(momentMs('1970-01-01T00:00:01Z')).toBe(1000);
    expect(momentMs('2026-02-30')).toBeUndefined();
    expect(momentMs('2026-13-01')).toBeUndefined();
    expect(momentMs('2026-01-01T25:00:00Z')).toBeUndefined();
  });
});
