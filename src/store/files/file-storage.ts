import { join } from 'node:path';
import type { Clock } from '../../kit/time/clock.ts';
import { openServiceClient } from '../../net/egress/service-client.ts';
import type { FileBytes } from '../../ports/content/files.ts';
import type { ObjectStorage } from '../object-storage/object-storage.ts';
import { s3PlaceOf } from '../object-storage/s3-place.ts';
import { S3Storage, type S3StorageOptions } from '../object-storage/s3-storage.ts';
import { diskFileReader, openDiskFileBytes } from './disk-file-bytes.ts';
import { S3FileBytes } from './s3-file-bytes.ts';

export interface BucketSettings {
  readonly endpoint?: string | null;
  readonly bucket: string;
  readonly region?: string | null;
  readonly prefix?: string | null;
  readonly path_style?: boolean | null;
  readonly access_key_id: string;
  readonly secret_access_key: string;
  readonly session_token?: string | null;
}

export function openObjectStorage(
  bucket: BucketSettings | null | undefined,
  clock: Pick<Clock, 'now'>,
  options: Pick<S3StorageOptions, 'warn' | 'attemptsMs'> = {},
): ObjectStorage | undefined {
  if (bucket === null || bucket === undefined) return undefined;
  const region = bucket.region ?? DEFAULT_REGION;
  const place = s3PlaceOf({
    ...bucket,
    region,
    prefix: bucket.prefix ?? '',
    isPathStyle: bucket.path_style ?? true,
  });
  return new S3Storage({
    service: openServiceClient(place.origin),
    place,
    signingKey: {
      accessKeyId: bucket.access_key_id,
      secretAccessKey: bucket.secret_access_key,
      ...(bucket.session_token && { sessionToken: bucket.session_token }),
      region,
    },
    now: () => clock.now(),
    ...options,
  });
}

const DEFAULT_REGION = 'us-east-1';

/** Contents of files: in the directory, or in a bucket beside those that the directory has from before. */
export async function openFileBytes(
  directory: string,
  storage: ObjectStorage | undefined,
  clock: Clock,
  floorBytes: () => number,
): Promise<FileBytes> {
  const disk = await openDiskFileBytes(directory, floorBytes);
  if (storage === undefined) return disk;
  return filesWithOlder(new S3FileBytes({ storage, now: () => clock.now() }), disk);
}

/** Contents in a new place, and those that were stored in another one before: they are read and removed there. */
export function filesWithOlder(files: FileBytes, older: FileBytes): FileBytes {
  return {
    receive: (id) => files.receive(id),
    async read(id) {
      return (await files.read(id)) ?? older.read(id);
    },
    async remove(id) {
      await files.remove(id);
      await older.remove(id);
    },
    async ids() {
      return [...new Set([...(await files.ids()), ...(await older.ids())])];
    },
  };
}

/** Reads contents of files for a worker, beside the process that has the data directory open. */
export function openFileReader(
  dataDir: string,
  bucket: BucketSettings | null | undefined,
  clock: Clock,
  warn: NonNullable<S3StorageOptions['warn']>,
): Pick<FileBytes, 'read'> & { close(): void } {
  const disk = diskFileReader(join(dataDir, 'files'));
  const storage = openObjectStorage(bucket, clock, { warn });
  if (storage === undefined) return { read: (id) => disk.read(id), close: () => {} };
  const objects = new S3FileBytes({ storage, now: () => clock.now() });
  return {
    read: async (id) => (await objects.read(id)) ?? disk.read(id),
    close: () => storage.close(),
  };
}
