import type { RedisAddress } from '../../kit/net/redis-address.ts';
import type { Clock } from '../../kit/time/clock.ts';
import { RedisLimiter } from '../rate-limits/redis-limiter.ts';
import { isWrongType, RedisClient, redisErrorCode } from '../redis/redis-client.ts';
import { RedisOutputItems } from '../redis/redis-output-items.ts';
import { RedisRoutingMemory } from '../routing-memory/redis-routing-memory.ts';
import type { SharedStores } from './shared-stores.ts';

/** Opens a connection to Redis, which need not answer. `vendor`: first part of all keys. */
export function openRedisStores(
  address: RedisAddress,
  vendor: string,
  clock: Pick<Clock, 'now'>,
): SharedStores {
  const client = new RedisClient(address, vendor);
  return {
    kind: 'redis',
    host: `${address.host}:${address.port}`,
    limiter: new RedisLimiter(client, clock),
    routing: new RedisRoutingMemory(client),
    items: new RedisOutputItems(client),
    probe: () => client.ping(),
    isAnswer: isWrongType,
    errorCode: redisErrorCode,
    close: async () => client.close(),
  };
}
