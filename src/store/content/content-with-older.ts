import type { ContentFiles } from './queued-content-store.ts';

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
