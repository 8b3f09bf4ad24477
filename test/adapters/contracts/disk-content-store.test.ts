import { readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { ContentFolders } from '../../../src/store/content/content-folders.ts';
import { QueuedContentStore, type QueueLimits } from '../../../src/store/content/queued-content-store.ts';
import { HandClock } from '../../kit/fakes/hand-clock.ts';
import { contentOf, contentStoreContract, idAt, stored } from './content-store.ts';
import { temporaryDirectory } from './temporary-directory.ts';

interface Warning {
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>> | undefined;
}

function openStore(path: string, queueLimits?: QueueLimits) {
  const warnings: Warning[] = [];
  const clock = new HandClock();
  const store = new QueuedContentStore({
    files: new ContentFolders(join(path, 'content')),
    log: { warn: (message, fields) => warnings.push({ message, fields }) },
    clock,
    ...(queueLimits !== undefined && { queueLimits }),
  });
  return { store, warnings, clock };
}

contentStoreContract('a directory', async () => {
  const directory = temporaryDirectory();
  let { store } = openStore(directory.path);
  return {
    contents: store,
    async reopen() {
      await store.close();
      store = openStore(directory.path).store;
      return store;
    },
    async close() {
      await store.close();
      directory.remove();
    },
  };
});

describe('content in a directory', () => {
  const directories: { remove(): void }[] = [];
  afterEach(() => {
    for (const directory of directories.splice(0)) directory.remove();
  });

  function open(queueLimits?: QueueLimits) {
    const directory = temporaryDirectory();
    directories.push(directory);
    return { ...openStore(directory.path, queueLimits), path: directory.path };
  }

  it('keeps one compressed file a generation in a folder a day, closed to others', async () => {
    const { store, path } = open();
    const id = idAt(0, 'x');
    store.put(stored(id));
    await store.close();
    const folder = join(path, 'content', '2026-09-27');
    expect(readdirSync(folder)).toEqual([`${id}.json.gz`]);
    const file = join(folder, `${id}.json.gz`);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(JSON.parse(gunzipSync(readFileSync(file)).toString())).toMatchObject({
      account_id: 'a',
      workspace_id: 'a-default',
    });
  });

  it('creates no directory before the first content', async () => {
    const { store, path } = open();
    await store.prune({ beforeMs: 1, maxBytes: 1 });
    expect(readdirSync(path)).toEqual([]);
  });

  it('ignores a file that a crash cut off', async () => {
    const { store, path } = open();
    const id = idAt(0, 'x');
    store.put(stored(id, { content: contentOf('x'.repeat(1000)) }));
    await store.close();
    const file = join(path, 'content', '2026-09-27', `${id}.json.gz`);
    truncateSync(file, statSync(file).size - 10);
    expect(await store.get('a', id)).toBeUndefined();
    writeFileSync(file, 'nonsense');
    expect(await store.get('a', id)).toBeUndefined();
  });

  it('drops content that there is no room for, and logs it once a minute', async () => {
    const { store, warnings, clock } = open({ generations: 2, characters: 1000 });
    for (const name of ['a', 'b', 'c', 'd']) store.put(stored(idAt(0, name)));
    expect(warnings).toEqual([
      {
        message: 'content of generations was not kept',
        fields: { reason: 'more is waiting to be written than there is room for', generations: 1 },
      },
    ]);
    clock.pass(60_000);
    store.put(stored(idAt(0, 'e'), { content: contentOf('x'.repeat(2000)) }));
    expect(warnings[1]?.fields?.generations).toBe(2);
    await store.close();
    expect(await store.get('a', idAt(0, 'b'))).toBeDefined();
    expect(await store.get('a', idAt(0, 'c'))).toBeUndefined();
  });

  it('only logs when nothing can be written', async () => {
    const { store, warnings, path } = open();
    writeFileSync(join(path, 'content'), 'a file where the folder should be');
    store.put(stored(idAt(0, 'x')));
    await store.close();
    expect(warnings).toHaveLength(1);
    expect(JSON.stringify(warnings)).not.toContain(path);
  });

  it('resumes once it can write again', async () => {
    const { store, warnings, path } = open();
    writeFileSync(join(path, 'content'), '');
    store.put(stored(idAt(0, 'x')));
    await expect.poll(() => warnings.length).toBe(1);
    rmSync(join(path, 'content'));
    store.put(stored(idAt(0, 'y')));
    await store.close();
    expect(await store.get('a', idAt(0, 'y'))).toBeDefined();
  });
});
