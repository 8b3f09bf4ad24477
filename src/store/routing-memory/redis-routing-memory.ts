import {
  type ExchangedNews,
  GATEWAY_COUNTS_MS,
  MAX_RECEIVED_NEWS,
  NEWS_LIFETIME_MS,
  type NewsExchange,
  type Pin,
  type RoutingMemory,
} from '../../ports/shared/routing-memory.ts';
import { type RedisClient, redisScript } from '../redis/redis-client.ts';
import { newsFromText, newsText } from './news-text.ts';

/** News in the stream at most. */
const MAX_NEWS = 10_000;

/**
 * Keys: the stream of news, the gateways by their last exchange. Arguments: gateway, process, position or '', news or
 * ''. A position that is ahead of the clock is from before the clock was set back.
 */
const EXCHANGE = redisScript(`
  local time = redis.call('TIME')
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  redis.call('ZADD', KEYS[2], now, ARGV[1])
  redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now - ${GATEWAY_COUNTS_MS})
  redis.call('PEXPIRE', KEYS[2], ${GATEWAY_COUNTS_MS})
  local after = ARGV[3]
  if after == '' then
    after = string.format('%.0f-0', now - ${NEWS_LIFETIME_MS})
  elseif tonumber(string.match(after, '^%d+')) > now + 1000 then
    after = string.format('%.0f-0', now)
  end
  local entries = redis.call('XRANGE', KEYS[1], '(' .. after, '+', 'COUNT', ${MAX_RECEIVED_NEWS})
  local received = {}
  for at, entry in ipairs(entries) do
    after = entry[1]
    if entry[2][2] ~= ARGV[2] then
      local age = now - tonumber(string.match(entry[1], '^%d+'))
      table.insert(received, {math.floor(age), entry[2][4]})
    end
  end
  if ARGV[4] ~= '' then
    local id = redis.call('XADD', KEYS[1], 'MAXLEN', '~', ${MAX_NEWS}, '*', 'process', ARGV[2], 'news', ARGV[4])
    redis.call('PEXPIRE', KEYS[1], ${NEWS_LIFETIME_MS})
    if #entries < ${MAX_RECEIVED_NEWS} then after = id end
  end
  return {after, received, redis.call('ZCARD', KEYS[2])}`);

const END_PROBE = redisScript(`
  if redis.call('GET', KEYS[1]) ~= ARGV[1] then return end
  if ARGV[2] == '0' then redis.call('DEL', KEYS[1]) else redis.call('PEXPIRE', KEYS[1], ARGV[2]) end`);

/** Routing memory in Redis, by its clock. */
export class RedisRoutingMemory implements RoutingMemory {
  readonly #redis: RedisClient;

  constructor(redis: RedisClient) {
    this.#redis = redis;
  }

  async findPin(key: string): Promise<Pin | undefined> {
    const text = await this.#redis.call('GET', this.#redis.key('pin', key));
    return typeof text === 'string' ? pinFromText(text) : undefined;
  }

  async setPin(key: string, { site, modelId }: Pin, idleMs: number): Promise<void> {
    const text = JSON.stringify([site, modelId]);
    await this.#redis.call('SET', this.#redis.key('pin', key), text, 'PX', Math.max(1, Math.ceil(idleMs)));
  }

  async exchange({ gatewayId, processId, after, news }: NewsExchange): Promise<ExchangedNews> {
    const keys = [this.#redis.key('news'), this.#redis.key('gateways')];
    const args = [gatewayId, processId, after ?? '', newsText(news) ?? ''];
    const [position, received, gateways] = (await this.#redis.run(EXCHANGE, keys, args)) as NewsAnswer;
    return { position, received: received.flatMap(([ageMs, text]) => newsFromText(text, ageMs)), gateways };
  }

  async takeProbe(place: string, processId: string, forMs: number): Promise<boolean> {
    const key = this.#redis.key('probe', place);
    const answer = await this.#redis.call('SET', key, processId, 'NX', 'PX', Math.max(1, Math.ceil(forMs)));
    return answer === 'OK';
  }

  async endProbe(place: string, processId: string, keepMs: number): Promise<void> {
    await this.#redis.run(END_PROBE, [this.#redis.key('probe', place)], [processId, Math.ceil(keepMs)]);
  }
}

type NewsAnswer = [position: string, received: [ageMs: number, text: string][], gateways: number];

function pinFromText(text: string): Pin | undefined {
  try {
    const [site, modelId] = JSON.parse(text) as unknown[];
    return typeof site === 'string' && typeof modelId === 'string' ? { site, modelId } : undefined;
  } catch {
    return undefined;
  }
}
