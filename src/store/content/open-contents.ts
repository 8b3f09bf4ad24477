import type { Log } from '../../kit/log/log.ts';
import type { Clock } from '../../kit/time/clock.ts';
import type { ContentStore } from '../../ports/content/content.ts';
import type { ObjectStorage } from '../object-storage/object-storage.ts';
import { ContentFolders } from './content-folders.ts';
import { type ContentFiles, QueuedContentStore } from './queued-content-store.ts';
import { S3ContentFiles } from './s3-content-files.ts';

/** Writes at the same time: each waits for the network. */
const OBJECT_WRITES_AT_ONCE = 8;

export interface ContentsOptions {
  /** Created with the first write. */
  readonly directory: string;
  /** Absent = content is in the directory. What is there already is found in either case. */
  readonly storage: ObjectStorage | undefined;
  readonly log: Pick<Log, 'warn'>;
  readonly clock: Clock;
}

export function openContents({ directory, storage, log, clock }: ContentsOptions): ContentStore {
  const folders = new ContentFolders(directory);
  if (storage === undefined) return new QueuedContentStore({ files: folders, log, clock });
  const objects = new S3ContentFiles({ storage, monotonic: () => clock.monotonic() });
  return new QueuedContentStore({
    files: contentWithOlder(objects, folders),
    writesAtOnce: OBJECT_WRITES_AT_ONCE,
    log,
    clock,
  });
}

/** Content in a new place, and what was stored in another one before: it is read, removed and pruned there. */
export function contentWithOlder(files: ContentFiles, older: ContentFiles): ContentFiles {
  return {
    get bytes() {
      return files.bytes + older.bytes;
    },
    async count() {
      await Promise.all([files.count(), older.count()]);
    },
    write: (path, bytes) => files.write(path, bytes),
    async read(path) {
      return (await older.read(path)) ?? files.read(path);
    },
    async remove(path) {
      const isRemoved = await older.remove(path);
      return (await files.remove(path)) || isRemoved;
    },
    /** What is left there counts against the limit until it is too old itself. */
    async prune({ beforeMs, maxBytes }) {
      await older.prune({ beforeMs, maxBytes });
      await files.prune({ beforeMs, maxBytes: Math.max(0, maxBytes - older.bytes) });
    },
  };
}
