import { describe, expect, it } from 'vitest';
import type { GatewayError } from '../../ir/errors.ts';
import type { Caller } from '../../ports/caller.ts';
import type { RateLimit, RateVerdict } from '../../ports/limiter.ts';
import { countRequest, type RateClass, type RateSettings } from './rate-limits.ts';

const caller = { key: { hash: 'hash' }, accountId: 'account' } as Caller;

const settings: RateSettings = {
  perKey: { minute: 60, day: null },
  analyticsPerMinute: 64,
  datasets: { minute: 30, day: 500 },
};

async function count(rateClass: RateClass, verdict: RateVerdict = { ok: true }, given = settings) {
  const asked: RateLimit[] = [];
  const limiter = {
    take: async (limits: readonly RateLimit[]) => {
      asked.push(...limits);
      return verdict;
    },
  };
  let error: GatewayError | undefined;
  try {
    await countRequest(rateClass, caller, given, { limiter, clock: { now: () => 1_000_000 } });
  } catch (thrown) {
    error = thrown as GatewayError;
  }
  return { asked: asked.map(({ name, subject, maxRequests }) => [name, subject, maxRequests]), error };
}

describe('request limits', () => {
  it.each([
    ['generation', [['requests-per-minute', 'hash', 60]]],
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
    expect(
      (await count('generation', { ok: true }, { ...settings, perKey: { minute: null, day: null } })).asked,
    ).toEqual([]);
  });

  it('say which one is used up, and until when', async () => {
    const limit: RateLimit = {
      name: 'requests-per-minute',
      subject: 'hash',
      window: 'minute',
      maxRequests: 60,
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
});
