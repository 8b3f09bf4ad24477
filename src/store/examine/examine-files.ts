import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { KnownFile } from '../../ports/installation/store-facts.ts';
import { FILE_ID } from '../files/file-id.ts';
import { MAX_EXAMINED_FILES } from './database-facts.ts';

export interface FileFacts {
  /** Ids of files that have no content. */
  readonly missing: readonly string[];
  /** Ids of files whose content has another length. */
  readonly cut: readonly string[];
  /** Contents without a file row; undefined when there are too many files to know. */
  readonly withoutFile: number | undefined;
}

const STATS_AT_ONCE = 64;

/** Examines the directory of contents, which may be missing. */
export async function examineFiles(directory: string, files: readonly KnownFile[]): Promise<FileFacts> {
  const contents = new Set((await namesIn(directory)).filter((name) => FILE_ID.test(name)));
  const isThere = ({ id }: KnownFile) => contents.has(id);
  const known = new Set(files.map(({ id }) => id));
  return {
    missing: files.filter((file) => !isThere(file)).map(({ id }) => id),
    cut: await cutOf(directory, files.filter(isThere)),
    withoutFile:
      files.length === MAX_EXAMINED_FILES ? undefined : [...contents].filter((id) => !known.has(id)).length,
  };
}

async function cutOf(directory: string, files: readonly KnownFile[]): Promise<string[]> {
  const cut: string[] = [];
  for (let index = 0; index < files.length; index += STATS_AT_ONCE) {
    const looks = files.slice(index, index + STATS_AT_ONCE).map(async ({ id, bytes }) => {
      // A file that vanished meanwhile was deleted.
      const size = (await stat(join(directory, id)).catch(() => undefined))?.size ?? bytes;
      return size === bytes ? [] : [id];
    });
    cut.push(...(await Promise.all(looks)).flat());
  }
  return cut;
}

function namesIn(directory: string): Promise<string[]> {
  return readdir(directory).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
}
