import type { Clock } from '../../kit/time/clock.ts';
import type { Limiter, RateCount, RateCounter, RateLimit, RateVerdict } from '../../ports/shared/limiter.ts';
import { type RedisClient, redisScript } from '../redis/redis-client.ts';

/** Counts and the ends of their windows: the key of a window that is over is gone. */
const COUNT = `
  local function count(key, amount, window)
    if redis.call('INCRBY', key, amount) ~= tonumber(amount) then return end
    if window == 'minute' then
      redis.call('PEXPIRE', key, 60000)
    else
      local seconds = tonumber(redis.call('TIME')[1])
      redis.call('EXPIREAT', key, (math.floor(seconds / 86400) + 1) * 86400)
    end
  end`;

/**
 * Takes maximum, unit and window for each key. Returns the place of the limit that forbids, and how long its
 * window lasts.
 */
const TAKE = redisScript(`${COUNT}
  for at, key in ipairs(KEYS) do
    if tonumber(redis.call('GET', key) or '0') >= tonumber(ARGV[3 * at - 2]) then
      return {at, redis.call('PTTL', key)}
    end
  end
  for at, key in ipairs(KEYS) do
    if ARGV[3 * at - 1] == 'requests' then count(key, 1, ARGV[3 * at]) end
  end
  return {0, 0}`);

/** Takes amount and window for each key. */
const ADD = redisScript(`${COUNT}
  for at, key in ipairs(KEYS) do count(key, ARGV[2 * at - 1], ARGV[2 * at]) end`);

const PASS: RateVerdict = { ok: true };

/** Counts in Redis, by its clock. */
export class RedisLimiter implements Limiter {
  readonly #redis: RedisClient;
  readonly #clock: Pick<Clock, 'now'>;

  constructor(redis: RedisClient, clock: Pick<Clock, 'now'>) {
    this.#redis = redis;
    this.#clock = clock;
  }

  async take(limits: readonly RateLimit[]): Promise<RateVerdict> {
    const args = limits.flatMap(({ max, unit, window }) => [max, unit, window]);
    const answer = await this.#redis.run(TAKE, this.#keys(limits), args);
    if (!isVerdict(answer)) throw new TypeError('Redis gave no verdict');
    const [place, leftMs] = answer;
    const limit = limits[place - 1];
    if (limit === undefined) return PASS;
    return { ok: false, limit, resetAtMs: this.#clock.now() + Math.max(1, leftMs) };
  }

  async add(counts: readonly RateCount[]): Promise<void> {
    if (counts.length === 0) return;
    const args = counts.flatMap(({ amount, window }) => [amount, window]);
    await this.#redis.run(ADD, this.#keys(counts), args);
  }

  #keys(counters: readonly RateCounter[]): string[] {
    return counters.map(({ name, subject }) => this.#redis.key('count', name, subject));
  }
}

function isVerdict(answer: unknown): answer is readonly [place: number, leftMs: number] {
  return Array.isArray(answer) && answer.length === 2 && answer.every(Number.isInteger);
}
