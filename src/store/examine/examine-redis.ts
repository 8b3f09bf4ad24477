import type { RedisAddress } from '../../kit/net/redis-address.ts';
import type { RedisFacts } from '../../ports/installation/store-facts.ts';
import { DataDirectoryProblem } from '../directory/data-directory-problem.ts';
import { RedisClient, redisErrorCode } from '../redis/redis-client.ts';

/** How long connecting may take, milliseconds. */
const CONNECT_MS = 3_000;

/** Advice for what a server says; by default it may not run, or not be reachable. */
const ADVICE: Readonly<Record<string, string>> = {
  NOAUTH: 'REDIS_URL lacks the password',
  WRONGPASS: 'REDIS_URL has a wrong user or password',
  NOPERM: 'let the user of REDIS_URL run scripts and write keys',
};

const MEANWHILE = 'until then each gateway admits its share of limits and routes by itself';

/** Looks at a Redis server without changing anything. Rejects with a DataDirectoryProblem. */
export async function examineRedis(address: RedisAddress): Promise<RedisFacts> {
  const name = `${address.host}:${address.port}`;
  const client = new RedisClient(address, 'doctor');
  try {
    await client.ready(CONNECT_MS);
    const beganAt = performance.now();
    await client.call('PING');
    const roundTripMs = performance.now() - beganAt;
    const info = String(await client.call('INFO'));
    const infoAt = (key: string) => new RegExp(`^${key}:(.*?)\\r?$`, 'm').exec(info)?.[1] ?? '';
    return {
      name,
      version: infoAt('redis_version'),
      roundTripMs,
      usedBytes: Number(infoAt('used_memory')),
      isReplica: infoAt('role') === 'slave',
    };
  } catch (error) {
    const code = redisErrorCode(error);
    const advice = ADVICE[code] ?? 'see that it runs and that REDIS_URL leads to it';
    throw new DataDirectoryProblem(
      `Redis at ${name} cannot be used (${code}); ${advice}; ${MEANWHILE}`,
      false,
      error,
    );
  } finally {
    client.close();
  }
}
