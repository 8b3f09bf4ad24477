import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/kit/time/clock.ts';
import { openServiceClient } from '../../../src/net/egress/service-client.ts';
import type { FileBytes } from '../../../src/ports/content/files.ts';
import { ContentFolders } from '../../../src/store/content/content-folders.ts';
import { contentWithOlder } from '../../../src/store/content/open-contents.ts';
import { QueuedContentStore } from '../../../src/store/content/queued-content-store.ts';
import { S3ContentFiles } from '../../../src/store/content/s3-content-files.ts';
import { openDiskFileBytes } from '../../../src/store/files/disk-file-bytes.ts';
import { filesWithOlder, openFileReader } from '../../../src/store/files/file-storage.ts';
import { S3FileBytes } from '../../../src/store/files/s3-file-bytes.ts';
import { S3Storage, type S3StorageOptions } from '../../../src/store/object-storage/s3-storage.ts';
import { openFakeS3 } from '../../kit/fakes/fake-s3.ts';
import { HandClock } from '../../kit/fakes/hand-clock.ts';
import { contentOf, contentStoreContract, idAt, stored } from './content-store.ts';
import { fileBytesContract } from './file-bytes.ts';
import { temporaryDirectory } from './temporary-directory.ts';

const server = await openFakeS3();
afterAll(() => server.close());

let places = 0;

/** A place of its own in the bucket. */
function openStorage(options: Pick<S3StorageOptions, 'warn' | 'attemptsMs'> = {}) {
  const prefix = `place-${++places}/`;
  return {
    prefix,
    storage: new S3Storage({
      service: openServiceClient(server.origin),
      place: { origin: server.origin, bucketPath: `/${server.bucket}`, prefix },
      signingKey: server.signingKey,
      now: () => Date.now(),
      pauseMs: 1,
      ...options,
    }),
  };
}

const MIB = 1024 * 1024;
const idOf = (name: string) => `file_${name.padEnd(24, '0')}`;
const X = idOf('x');

function openFiles(settlingMs = 0) {
  const { storage, prefix } = openStorage();
  const reopen = async () => new S3FileBytes({ storage, now: () => Date.now(), settlingMs });
  return { storage, prefix, reopen };
}

async function store(bytes: FileBytes, id: string, content: Uint8Array, pieceBytes = content.length) {
  const incoming = await bytes.receive(id);
  for (let from = 0; from < content.length; from += pieceBytes) {
    await incoming.write(content.subarray(from, from + pieceBytes));
  }
  await incoming.keep();
}

async function readAll(bytes: FileBytes, id: string): Promise<Buffer | undefined> {
  const content = await bytes.read(id);
  if (content === undefined) return undefined;
  const pieces: Uint8Array[] = [];
  for await (const piece of content) pieces.push(piece);
  return Buffer.concat(pieces);
}

fileBytesContract('a bucket', async () => {
  const { storage, reopen } = openFiles();
  return { bytes: await reopen(), reopen, close: async () => storage.close() };
});

contentStoreContract('a bucket', async () => {
  const { storage } = openStorage();
  const clock = new HandClock();
  const open = () =>
    new QueuedContentStore({
      files: new S3ContentFiles({ storage, monotonic: () => clock.monotonic() }),
      writesAtOnce: 4,
      log: { warn() {} },
      clock,
    });
  let contents = open();
  return {
    contents,
    async reopen() {
      await contents.close();
      contents = open();
      return contents;
    },
    async close() {
      await contents.close();
      storage.close();
    },
  };
});

describe('files in a bucket', () => {
  it('come and go in parts of a bounded size', async () => {
    const { reopen, prefix } = openFiles();
    const bytes = await reopen();
    const content = randomBytes(19 * MIB + 77);
    await store(bytes, X, content, 3 * MIB + 1);
    expect(
      server.requests.filter((line) => line === `PUT ${prefix}files/${X}?partNumber&uploadId`),
    ).toHaveLength(4);
    expect(server.largestBody()).toBe(5 * MIB);
    expect((await readAll(bytes, X))?.equals(content)).toBe(true);
    expect(server.uploads.size).toBe(0);
  });

  it('leave no parts behind when an upload is discarded', async () => {
    const bytes = await openFiles().reopen();
    const incoming = await bytes.receive(X);
    await incoming.write(randomBytes(9 * MIB));
    expect(server.uploads.size).toBe(1);
    await incoming.discard();
    expect(server.uploads.size).toBe(0);
  });

  it.each(['slow-down', 'reset', 'truncate', 'lose-reply'] as const)(
    'are stored and read although the storage has trouble: %s',
    async (kind) => {
      const bytes = await openFiles().reopen();
      const content = randomBytes(3 * MIB);
      server.trouble(kind, 2);
      await store(bytes, X, content);
      server.trouble(kind, 2);
      expect((await readAll(bytes, X))?.equals(content)).toBe(true);
      server.trouble(kind, 2);
      await bytes.remove(X);
      expect(await bytes.read(X)).toBeUndefined();
    },
  );

  it('are stored in parts although the answer to their completion is lost', async () => {
    const bytes = await openFiles().reopen();
    const content = randomBytes(6 * MIB);
    const incoming = await bytes.receive(X);
    await incoming.write(content.subarray(0, 5 * MIB));
    await incoming.write(content.subarray(5 * MIB));
    const isCompletion = (line: string) => line.startsWith('POST') && line.endsWith('?uploadId');
    server.troubleAt('lose-reply', isCompletion);
    await incoming.keep();
    expect(server.requests.slice(-3).filter(isCompletion)).toHaveLength(2);
    expect((await readAll(bytes, X))?.equals(content)).toBe(true);
  });

  it('are refused with 503 if an upload in parts is gone and the object is not there', async () => {
    const { reopen, prefix } = openFiles();
    const incoming = await (await reopen()).receive(X);
    await incoming.write(randomBytes(5 * MIB));
    server.uploads.clear();
    await expect(incoming.keep()).rejects.toMatchObject({ kind: 'overloaded' });
    // An object of another length is not what was uploaded.
    server.objects.set(`${prefix}files/${X}`, { bytes: randomBytes(MIB), storedAt: new Date() });
    await expect(incoming.keep()).rejects.toMatchObject({ kind: 'overloaded' });
    await incoming.discard();
  });

  it('are refused with 503 while the storage is away, and its words are not repeated', async () => {
    const bytes = await openFiles().reopen();
    for (const kind of ['denied', 'slow-down', 'reset'] as const) {
      const incoming = await bytes.receive(X);
      await incoming.write(Buffer.from('x'));
      for (const work of [() => incoming.keep(), () => bytes.read(X), () => bytes.ids()]) {
        server.trouble(kind, 100);
        const refused = await work().catch((error: unknown) => error);
        expect(refused).toMatchObject({
          kind: 'overloaded',
          message: `Service temporarily unavailable: the storage of files ${
            kind === 'denied' ? 'refuses access' : 'does not answer'
          }`,
        });
        expect(String((refused as Error).cause)).not.toContain('canary');
      }
      server.trouble(kind, 0);
      await incoming.discard();
    }
  });

  it('are refused with 503 by a storage that sends less than it was asked for', async () => {
    const bytes = await openFiles().reopen();
    await store(bytes, X, Buffer.from('hello, this is a file.'));
    server.trouble('ignore-range');
    await expect(bytes.read(X)).rejects.toMatchObject({ kind: 'overloaded', cause: { code: 'range' } });
    expect(String(await readAll(bytes, X))).toBe('hello, this is a file.');
  });

  it('are refused after a few attempts if the storage swallows requests', async () => {
    const { storage, prefix } = openStorage({ attemptsMs: [20, 40] });
    const sent = () => server.requests.filter((line) => line.includes(prefix));
    const bytes = new S3FileBytes({ storage, now: () => Date.now() });
    const incoming = await bytes.receive(X);
    await incoming.write(Buffer.from('x'));
    server.trouble('stall', 100);
    await expect(incoming.keep()).rejects.toMatchObject({ kind: 'overloaded' });
    const put = `PUT ${prefix}files/${X}`;
    expect(sent()).toEqual([put, put]);
    // What the storage may have taken is removed without the caller.
    await incoming.discard();
    expect(sent()).toHaveLength(2);
    await expect.poll(sent).toContain(`DELETE ${prefix}files/${X}`);
    server.trouble('stall', 0);
    storage.close();
  });

  it('have one line in the log when the storage begins to fail, and one when it is back', async () => {
    const lines: unknown[] = [];
    const { storage, prefix } = openStorage({
      warn: (message, fields) => lines.push([message, fields]),
      attemptsMs: [500],
    });
    const bytes = new S3FileBytes({ storage, now: () => Date.now() });
    const bucket = `${server.origin}/${server.bucket}`;
    for (const [kind, cause] of [
      ['denied', { status: 403, errno: 'AccessDenied' }],
      ['slow-down', { status: 503, errno: 'SlowDown' }],
      ['stall', { errno: 'timeout' }],
    ] as const) {
      lines.length = 0;
      server.trouble(kind, 2);
      for (let times = 0; times < 2; times++) await bytes.read(X).catch(() => {});
      for (let times = 0; times < 2; times++) expect(await bytes.read(X)).toBeUndefined();
      expect(lines).toEqual([
        [
          'the bucket cannot be used; uploads, and generations that name a stored file, get 503',
          { bucket, ...cause },
        ],
        ['the bucket can be used again', { bucket, away_ms: expect.any(Number) }],
      ]);
    }
    expect(server.requests.at(-1)).toBe(`GET ${prefix}files/${X}`);
    storage.close();
  });

  it('have such a line when a worker reads them too', async () => {
    const lines: string[] = [];
    const { accessKeyId, secretAccessKey, region } = server.signingKey;
    const bucket = {
      endpoint: server.origin,
      bucket: server.bucket,
      region,
      access_key_id: accessKeyId,
      secret_access_key: secretAccessKey,
    };
    const directory = temporaryDirectory();
    const reader = openFileReader(directory.path, bucket, systemClock, (message) => lines.push(message));
    server.trouble('denied');
    await expect(reader.read(X)).rejects.toMatchObject({ kind: 'overloaded' });
    expect(lines).toEqual([
      'the bucket cannot be used; uploads, and generations that name a stored file, get 503',
    ]);
    reader.close();
    directory.remove();
  });

  it('are not taken for missing if there is no such bucket', async () => {
    const storage = new S3Storage({
      service: openServiceClient(server.origin),
      place: { origin: server.origin, bucketPath: '/mistyped', prefix: '' },
      signingKey: server.signingKey,
      now: () => Date.now(),
    });
    await expect(storage.read('x', 0, 1)).rejects.toMatchObject({ code: 'NoSuchBucket', isRefusal: true });
    storage.close();
  });

  it('are not listed while another gateway may be storing their row', async () => {
    const { storage, reopen, prefix } = openFiles(60_000);
    const bytes = await reopen();
    await store(bytes, X, Buffer.from('new'));
    expect(await bytes.ids()).toEqual([]);
    server.objects.set(`${prefix}files/${X}`, {
      bytes: Buffer.from('old'),
      storedAt: new Date(Date.now() - 61_000),
    });
    expect(await bytes.ids()).toEqual([X]);
    storage.close();
  });

  it('are found on the disk if they were stored there before', async () => {
    const directory = temporaryDirectory();
    const disk = await openDiskFileBytes(join(directory.path, 'files'));
    await store(disk, idOf('older'), Buffer.from('older'));
    const bytes = filesWithOlder(await openFiles().reopen(), disk);
    await store(bytes, X, Buffer.from('new'));
    expect(String(await readAll(bytes, idOf('older')))).toBe('older');
    expect((await bytes.ids()).sort()).toEqual([idOf('older'), X].sort());
    expect(await disk.ids()).toEqual([idOf('older')]);
    for (const id of [idOf('older'), X]) await bytes.remove(id);
    expect(await bytes.ids()).toEqual([]);
    expect(await disk.ids()).toEqual([]);
    directory.remove();
  });
});

describe('content in a bucket', () => {
  it('that cannot be stored is lost, and the log says so', async () => {
    const warnings: unknown[] = [];
    const clock = new HandClock();
    const { storage } = openStorage();
    const contents = new QueuedContentStore({
      files: new S3ContentFiles({ storage, monotonic: () => clock.monotonic() }),
      log: { warn: (message, fields) => warnings.push({ message, fields }) },
      clock,
    });
    server.trouble('denied', 1);
    contents.put(stored(idAt(0, 'x')));
    await contents.close();
    server.trouble('denied', 0);
    expect(warnings).toEqual([
      { message: 'content of generations was not kept', fields: { reason: 'AccessDenied', generations: 1 } },
    ]);
    storage.close();
  });

  it('is found and pruned on the disk if it was stored there before', async () => {
    const directory = temporaryDirectory();
    const clock = new HandClock();
    const log = { warn() {} };
    const disk = new QueuedContentStore({ files: new ContentFolders(directory.path), log, clock });
    disk.put(stored(idAt(0, 'older'), { content: contentOf('older') }));
    await disk.close();
    const { storage } = openStorage();
    const files = contentWithOlder(
      new S3ContentFiles({ storage, monotonic: () => clock.monotonic() }),
      new ContentFolders(directory.path),
    );
    const contents = new QueuedContentStore({ files, log, clock });
    contents.put(stored(idAt(1000, 'new'), { content: contentOf('new') }));
    await expect.poll(() => server.objects.size).toBeGreaterThan(0);
    expect(await contents.get('a', idAt(0, 'older'))).toEqual(contentOf('older'));
    expect(await contents.get('a', idAt(1000, 'new'))).toEqual(contentOf('new'));
    await contents.prune({ beforeMs: 0, maxBytes: 0 });
    expect(await contents.get('a', idAt(0, 'older'))).toBeUndefined();
    await contents.close();
    storage.close();
    directory.remove();
  });
});
