import { describe, expect, it } from 'vitest';
import { momentMs } from '../../kit/time/moment.ts';
import type { KnownProviders } from './known-providers.ts';
import { parseConfig } from './parse-config.ts';

const knownProviders: KnownProviders = {
  has: () => true,
  slugs: [],
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
    ['pricing: { completion: "1000000" }', 'pricing.completion: must be an exact decimal in quotes'],
    ['pricing: { completion: "1000.000000000000000001" }', 'pricing.completion: must be'],
    ['pricing: { request: "100001" }', 'pricing.request: must be'],
    [
      'pricing: { overrides: [{ min_prompt_tokens: 9, image_output: "1001" }] }',
      'pricing.overrides[0].image_output',
    ],
    [
      'prices: [{ from: 2027-01-01, pricing: { web_search: "999999" } }]',
      'prices[0].pricing.web_search: must',
    ],
  ])('%s', (endpoint, problem) => {
    expect(problemsOf(endpoint)).toHaveLength(1);
    expect(problemsOf(endpoint)[0]).toContain(`models[0].endpoints[0].${problem}`);
  });
});

describe('a price', () => {
  it.each(['0', '0.000000000000000001', '999.999999999999999999', '1000', '1000.000', '000000001000'])(
    'of %s USD for a token is taken',
    (price) => expect(problemsOf(`pricing: { completion: "${price}" }`)).toEqual([]),
  );

  it.each(['99999.5', '100000', '000000100000.0'])('of %s USD for a piece is taken', (price) => {
    expect(problemsOf(`pricing: { request: "${price}", image: "${price}", web_search: "${price}" }`)).toEqual(
      [],
    );
  });

  it('says how much is too much', () => {
    expect(problemsOf('pricing: { prompt: "1000.1", image: "1000000000000" }')).toEqual([
      'models[0].endpoints[0].pricing.prompt: must be an exact decimal in quotes, for example "0.000001", of at most 1000 USD',
      'models[0].endpoints[0].pricing.image: must be an exact decimal in quotes, for example "0.000001", of at most 100000 USD',
    ]);
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
