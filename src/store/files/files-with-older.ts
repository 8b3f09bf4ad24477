import type { FileBytes } from '../../ports/content/files.ts';

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
