import { constants, fdatasync, write } from 'node:fs';
import { type FileHandle, open, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { makeDirectory, syncDirectory } from '../directory/atomic-files.ts';
import type { JournalFile, JournalFiles, OpenMode } from './journal-files.ts';

const FLAGS: Record<OpenMode, number> = {
  // Without O_NONBLOCK opening a FIFO blocks until it has a writer.
  read: constants.O_RDONLY | constants.O_NONBLOCK,
  change: constants.O_RDWR,
  create: constants.O_RDWR | constants.O_CREAT | constants.O_TRUNC,
};

/** Creates the directory of a journal if necessary (0700). Its files have mode 0600. */
export async function openDiskFiles(directory: string): Promise<JournalFiles> {
  if (makeDirectory(directory)) await syncDirectory(dirname(directory));
  return diskFilesIn(directory);
}

export function diskFilesIn(directory: string): JournalFiles {
  return {
    pathOf: (name) => join(directory, name),
    list: () => readdir(directory),
    open: async (name, mode) => {
      const path = join(directory, name);
      const handle = await open(path, FLAGS[mode], 0o600);
      return diskFileOf(handle, mode === 'create' && IS_LINUX ? await openDurable(path, handle) : undefined);
    },
    rename: (from, to) => rename(join(directory, from), join(directory, to)),
    remove: (name) => rm(join(directory, name), { force: true }),
    sync: () => syncDirectory(directory),
  };
}

/** Elsewhere O_DSYNC does not reach through the disk's own cache, as `fdatasync` does. */
const IS_LINUX = process.platform === 'linux';

/** The file, opened so that its writes are durable when they return. */
async function openDurable(path: string, handle: FileHandle): Promise<FileHandle> {
  try {
    return await open(path, constants.O_WRONLY | constants.O_DSYNC);
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** `durable`: absent where writes are made durable by a sync after them. */
function diskFileOf(handle: FileHandle, durable: FileHandle | undefined): JournalFile {
  return {
    size: async () => (await handle.stat()).size,
    read: async (into, position) => (await handle.read(into, 0, into.length, position)).bytesRead,
    write: (bytes, position) => written(handle.fd, bytes, position),
    writeDurably: (bytes, position) =>
      durable === undefined
        ? written(handle.fd, bytes, position).then((count) => dataSynced(handle.fd).then(() => count))
        : written(durable.fd, bytes, position),
    truncate: (length) => handle.truncate(length),
    sync: () => dataSynced(handle.fd),
    close: async () => {
      await durable?.close();
      await handle.close();
    },
  };
}

/**
 * Writes in the thread pool, however few the bytes: the system usually buffers them within microseconds, but a write
 * to a frozen file system lasts until it is thawed, and would hold the event loop. As `FileHandle.write`, with fewer
 * promises.
 */
function written(descriptor: number, bytes: Uint8Array, position: number): Promise<number> {
  return new Promise((resolve, reject) => {
    write(descriptor, bytes, 0, bytes.length, position, (error, count) =>
      error === null ? resolve(count) : reject(error),
    );
  });
}

/** `FileHandle.datasync` with fewer promises. */
function dataSynced(descriptor: number): Promise<void> {
  return new Promise((resolve, reject) => {
    fdatasync(descriptor, (error) => (error === null ? resolve() : reject(error)));
  });
}
