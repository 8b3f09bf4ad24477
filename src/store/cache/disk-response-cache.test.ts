import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../../../test/adapters/contracts/temporary-directory.ts';
import type { CachedAnswer } from '../../ports/content/response-cache.ts';
import { type CacheBounds, DiskResponseCache } from './disk-response-cache.ts';

const BOUNDS: CacheBounds = { memoryBytes: 10_000, diskBytes: 4_000, answerBytes: 2_000, files: 8 };
const MANY = Array.from({ length: 20 }, (_, index) => `k${String(index).padStart(2, '0')}`);

describe('DiskResponseCache', () => {
  let temporary: ReturnType<typeof temporaryDirectory>;
  let told: string[];
  const now = Date.now();

  beforeEach(() => {
    temporary = temporaryDirectory();
    told = [];
  });
  afterEach(() => temporary.remove());

  const directory = () => join(temporary.path, 'cache');
  const open = (bounds: Partial<CacheBounds> = {}, path = directory()) =>
    new DiskResponseCache(path, { warn: (message) => void told.push(message) }, { ...BOUNDS, ...bounds });
  const answer = (text: string, ttlSeconds = 60): CachedAnswer => ({
    sourceId: 'gen-1-x',
    storedAtMs: now,
    ttlSeconds,
    answer: { text },
  });
  const files = () => readdirSync(directory());

  it('returns an answer until it expires', async () => {
    const cache = open();
    expect(await cache.find('a', now)).toBeUndefined();
    cache.keep('a', answer('one'));
    expect(await cache.find('a', now + 59_999)).toEqual(answer('one'));
    expect(await cache.find('a', now + 60_000)).toBeUndefined();
    expect(await cache.find('a', now)).toBeUndefined();
    expect(files()).toEqual([]);
    await cache.close();
  });

  it('has the last answer under a key, and no deleted one, also during writes', async () => {
    const cache = open();
    cache.keep('a', answer('one'));
    cache.keep('a', answer('two'));
    expect((await cache.find('a', now))?.answer).toEqual({ text: 'two' });
    cache.keep('b', answer('three'));
    await cache.forget('b');
    expect(await cache.find('b', now)).toBeUndefined();
    await cache.close();
    expect(files()).toEqual(['a.json']);
  });

  it('has its answers after a restart, except expired ones', async () => {
    const first = open();
    first.keep('long', answer('stays', 3600));
    first.keep('short', { ...answer('goes', 1), storedAtMs: now - 10_000 });
    await first.close();
    writeFileSync(join(directory(), 'half.json.draft'), 'x');
    const second = open();
    expect((await second.find('long', now))?.answer).toEqual({ text: 'stays' });
    expect(await second.find('short', now)).toBeUndefined();
    expect(files()).toEqual(['long.json']);
    await second.close();
  });

  it('keeps no more bytes and files than it may, the newest of them', async () => {
    const cache = open({ memoryBytes: 1 });
    for (const key of MANY) cache.keep(key, answer('x'.repeat(300)));
    await cache.close();
    expect(files().length).toBeLessThanOrEqual(8);
    expect(await cache.find('k19', now)).toBeDefined();
    expect(await cache.find('k00', now)).toBeUndefined();
    const smaller = open({ memoryBytes: 1, files: 2 });
    await smaller.close();
    expect(files()).toHaveLength(2);
  });

  it('does not keep an answer that is too long', async () => {
    const cache = open();
    cache.keep('a', answer('x'.repeat(3000)));
    expect(await cache.find('a', now)).toBeUndefined();
    await cache.close();
  });

  it('treats a damaged or missing file as a miss', async () => {
    const cache = open({ memoryBytes: 1 });
    cache.keep('a', answer('one'));
    cache.keep('b', answer('two'));
    await cache.close();
    writeFileSync(join(directory(), 'a.json'), '{"sourceId":');
    rmSync(join(directory(), 'b.json'));
    expect(await cache.find('a', now)).toBeUndefined();
    expect(await cache.find('b', now)).toBeUndefined();
  });

  it('does not give back an answer of the future: the clock was set back', async () => {
    const cache = open();
    cache.keep('a', answer('one', 86_400));
    expect(await cache.find('a', now - 120_000)).toBeUndefined();
    await cache.close();
  });

  it('goes on in memory where its disk fails, and says so once', async () => {
    writeFileSync(directory(), 'a file where the directory should be');
    const cache = open();
    cache.keep('a', answer('one'));
    cache.keep('b', answer('two'));
    expect((await cache.find('a', now))?.answer).toEqual({ text: 'one' });
    await cache.close();
    expect(told).toEqual([expect.stringContaining('kept in memory alone')]);
  });
});
