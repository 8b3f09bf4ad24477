import type { FoundItems } from '../../ports/shared/output-items.ts';
import { type RedisClient, redisScript } from './redis-client.ts';

/** Milliseconds for which an item can be referred to. */
const LIFETIME_MS = 3_600_000;

/** Longer items are not kept, characters. */
const MAX_CHARACTERS = 1_048_576;

/** An empty text: the key was given two items under this id, so that the id names neither. */
const KEEP = redisScript(`
  local known = redis.call('GET', KEYS[1])
  local text = ARGV[1]
  if known and known ~= text then text = '' end
  redis.call('SET', KEYS[1], text, 'PX', ${LIFETIME_MS})`);

/** Output items of the last hour in Redis, each as the JSON text that its caller was sent. */
export class RedisOutputItems {
  readonly #redis: RedisClient;

  constructor(redis: RedisClient) {
    this.#redis = redis;
  }

  async keep(keyHash: string, id: string, text: string): Promise<void> {
    if (text.length <= MAX_CHARACTERS) await this.#redis.run(KEEP, [this.#keyOf(keyHash, id)], [text]);
  }

  async find(keyHash: string, ids: ReadonlySet<string>): Promise<FoundItems> {
    const found = new Map<string, string>();
    if (ids.size === 0) return found;
    const wanted = [...ids];
    const texts = await this.#redis.call('MGET', ...wanted.map((id) => this.#keyOf(keyHash, id)));
    for (const [at, text] of (texts as (string | null)[]).entries()) {
      const id = wanted[at];
      if (id !== undefined && text) found.set(id, text);
    }
    return found;
  }

  #keyOf(keyHash: string, id: string): string {
    return this.#redis.key('item', keyHash, id);
  }
}
