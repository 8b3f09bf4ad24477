import { describe, expect, it } from 'vitest';
import type { RateClass } from '../../endpoints/endpoint.ts';
import type { GatewayError } from '../../ir/errors.ts';
import type { RateLimit, RateVerdict } from '../../ports/shared/limiter.ts';
import type { Caller } from '../../ports/tenancy/caller.ts';
import { countRequest, type RateSettings, tokenCounts } from './rate-limits.ts';

const key = { hash: 'hash', requestsPerMinute: null, tokensPerMinute: null };

const caller = { key, accountId: 'account' } as Caller;

const settings: RateSettings = {
  perKey: { minute: 60, day: null },
  tokensPerKey: { minute: null, day: 9000 },
  analyticsPerMinute: 64,
  datasets: { minute: 30, day: 500 },
};

async function count(
  rateClass: RateClass,
  verdict: RateVerdict = { ok: true },
  given = settings,
  by = caller,
) {
  const asked: RateLimit[] = [];
  const limiter = {
    take: async (limits: readonly RateLimit[]) => {
      asked.push(...limits);
      return verdict;
    },
    add: async () => {},
  };
  let error: GatewayError | undefined;
  try {
    await countRequest(rateClass, by, given, { limiter, clock: { now: () => 1_000_000 } });
  } catch (thrown) {
    error = thrown as GatewayError;
  }
  return { asked: asked.map(({ name, subject, max }) => [name, subject, max]), error };
}

describe('request limits', () => {
  it.each([
    [
      'generation',
      [
        ['requests-per-minute', 'hash', 60],
        ['tokens-per-day', 'hash', 9000],
      ],
    ],
    ['files', [['requests-per-minute', 'hash', 60]]],
    ['analytics', [['analytics-per-minute', 'hash', 64]]],
    [
      'datasets',
      [
        ['datasets-per-minute', 'hash', 30],
        ['datasets-per-day', 'account', 500],
      ],
    ],
    ['management', []],
    ['public', []],
  ] as const)('of %s are %j', async (rateClass, limits) => {
    expect((await count(rateClass)).asked).toEqual(limits);
  });

  it('are off until set', async () => {
    const none = { minute: null, day: null };
    const given = { ...settings, perKey: none, tokensPerKey: none };
    expect((await count('generation', { ok: true }, given)).asked).toEqual([]);
    expect(tokenCounts(key, 100, given)).toEqual([]);
  });

  it('of a key itself stand in place of those of all keys, whether these are lower, higher or off', async () => {
    const own = { ...caller, key: { ...caller.key, requestsPerMinute: 90, tokensPerMinute: 500 } };
    const asked = async (of: RateClass) => (await count(of, { ok: true }, settings, own)).asked;
    expect(await asked('generation')).toEqual([
      ['requests-per-minute', 'hash', 90],
      ['tokens-per-minute', 'hash', 500],
      ['tokens-per-day', 'hash', 9000],
    ]);
    expect(await asked('files')).toEqual([['requests-per-minute', 'hash', 90]]);
    expect(await asked('analytics')).toEqual([['analytics-per-minute', 'hash', 64]]);
    const names = tokenCounts(own.key, 7, settings).map(({ name }) => name);
    expect(names).toEqual(['tokens-per-minute', 'tokens-per-day']);
    const limit: RateLimit = {
      name: 'requests-per-minute',
      subject: 'hash',
      window: 'minute',
      unit: 'requests',
      max: 90,
    };
    const refused = await count('generation', { ok: false, limit, resetAtMs: 1_012_500 }, settings, own);
    expect(refused.error?.metadata).toMatchObject({ limit_source: 'key' });
  });

  it('say which one is used up, and until when', async () => {
    const limit: RateLimit = {
      name: 'requests-per-minute',
      subject: 'hash',
      window: 'minute',
      unit: 'requests',
      max: 60,
    };
    const { error } = await count('generation', { ok: false, limit, resetAtMs: 1_012_500 });
    const headers = {
      'X-RateLimit-Limit': '60',
      'X-RateLimit-Remaining': '0',
      'X-RateLimit-Reset': '1012500',
    };
    expect(error).toMatchObject({
      status: 429,
      retryAfterSeconds: 13,
      headers,
      metadata: { headers, limit_source: 'gateway' },
    });
    expect(error?.message).toMatch(/^Rate limit exceeded: requests-per-minute\./);
  });

  it('count the tokens of a generation where a limit covers them', () => {
    expect(tokenCounts(key, 120, settings)).toEqual([
      { name: 'tokens-per-day', window: 'day', subject: 'hash', amount: 120 },
    ]);
    expect(tokenCounts(key, 0, settings)).toEqual([]);
  });

  it('name tokens in the refusal', async () => {
    const limit: RateLimit = {
      name: 'tokens-per-day',
      subject: 'hash',
      window: 'day',
      unit: 'tokens',
      max: 9000,
    };
    const { error } = await count('generation', { ok: false, limit, resetAtMs: 1_012_500 });
    expect(error?.message).toBe(
      'Rate limit exceeded: tokens-per-day. At most 9000 tokens a day; try again in 13 s.',
    );
    expect(error?.headers).toMatchObject({ 'X-RateLimit-Limit': '9000', 'X-RateLimit-Remaining': '0' });
  });
});
