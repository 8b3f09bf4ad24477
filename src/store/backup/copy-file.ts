import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { makeDirectory } from '../directory/atomic-files.ts';
import type { BackedUpFile } from './manifest.ts';

const PIECE_BYTES = 1024 * 1024;

/**
 * Copies a file durably (mode 0600) and returns its size and hash; undefined if it does not exist. What is appended
 * meanwhile may be missing.
 */
export async function copyFile(from: string, to: string, path: string): Promise<BackedUpFile | undefined> {
  const source = await open(join(from, path), 'r').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (source === undefined) return undefined;
  try {
    const target = join(to, path);
    makeDirectory(dirname(target));
    const copy = await open(target, 'wx', 0o600);
    try {
      const hash = createHash('sha256');
      const piece = Buffer.allocUnsafe(PIECE_BYTES);
      let bytes = 0;
      for (;;) {
        const { bytesRead } = await source.read(piece, 0, PIECE_BYTES, bytes);
        if (bytesRead === 0) break;
        hash.update(piece.subarray(0, bytesRead));
        await copy.appendFile(piece.subarray(0, bytesRead));
        bytes += bytesRead;
      }
      await copy.sync();
      return { path, bytes, sha256: hash.digest('hex') };
    } finally {
      await copy.close();
    }
  } finally {
    await source.close();
  }
}

/** The size and hash of a file that is in place already. */
export async function describeFile(directory: string, path: string): Promise<BackedUpFile> {
  const handle = await open(join(directory, path), 'r+');
  try {
    const hash = createHash('sha256');
    let bytes = 0;
    for await (const piece of handle.createReadStream({ autoClose: false, start: 0 })) {
      hash.update(piece as Buffer);
      bytes += (piece as Buffer).length;
    }
    await handle.sync();
    return { path, bytes, sha256: hash.digest('hex') };
  } finally {
    await handle.close();
  }
}
