import { readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeDirectory, syncDirectory } from '../directory/atomic-files.ts';
import { DataDirectoryProblem } from '../directory/data-directory-problem.ts';
import { lockDirectory } from '../directory/directory-lock.ts';
import { readOrMakeGatewayId } from '../directory/gateway-identity.ts';
import { UNFINISHED_RESTORE_FILE } from '../directory/unfinished-restore.ts';
import { DATA_FOLDER, requireEmpty } from './backup-directory.ts';
import { copyFile } from './copy-file.ts';
import { type BackedUpFile, MANIFEST_NAME, type Manifest, readManifest } from './manifest.ts';

export interface RestoreOptions {
  readonly source: string;
  /** Missing, empty, or left by a restore that was cut off. */
  readonly dataDir: string;
  /** Called with the manifest before anything is written; throwing refuses the backup. */
  accept(manifest: Manifest): void;
}

/**
 * Copies a backup into a data directory and compares every file with its hash. Until the last one is there, the
 * directory has a mark with which no gateway starts. Rejects with a DataDirectoryProblem.
 */
export async function restoreDirectory({ source, dataDir, accept }: RestoreOptions): Promise<Manifest> {
  const manifest = await readManifest(join(source, MANIFEST_NAME));
  accept(manifest);
  const from = join(source, DATA_FOLDER);
  await requireAllThere(from, manifest.files);
  makeDirectory(dataDir);
  const mark = join(dataDir, UNFINISHED_RESTORE_FILE);
  if ((await stat(mark).catch(() => undefined)) === undefined) await requireEmpty(dataDir, 'the restore');
  const lock = lockDirectory(dataDir);
  try {
    await writeFile(mark, `${source}\n`, { mode: 0o600 });
    await syncDirectory(dataDir);
    await removeLeftovers(dataDir);
    for (const file of manifest.files) await restoreFile(from, dataDir, file);
    const folders = new Set(manifest.files.map(({ path }) => path.split('/').slice(0, -1).join('/')));
    for (const folder of folders) await syncDirectory(join(dataDir, folder));
    // The new id tells commands and gateways without DATABASE_URL that the state is elsewhere.
    if (manifest.state === 'postgresql') readOrMakeGatewayId(dataDir);
    await rm(mark);
    await syncDirectory(dataDir);
    return manifest;
  } finally {
    lock.release();
  }
}

/** Notices a file that was lost before anything is written. */
async function requireAllThere(from: string, files: readonly BackedUpFile[]): Promise<void> {
  for (const { path, bytes } of files) {
    const size = (await stat(join(from, path)).catch(() => undefined))?.size;
    if (size === undefined) throw damaged(join(from, path), 'is missing');
    if (size !== bytes) throw damaged(join(from, path), `has ${size} bytes instead of ${bytes}`);
  }
}

/** Removes what a restore that was cut off has left. */
async function removeLeftovers(dataDir: string): Promise<void> {
  for (const name of await readdir(dataDir)) {
    if (/^(?:lock.*|lost\+found)$/.test(name) || name === UNFINISHED_RESTORE_FILE) continue;
    await rm(join(dataDir, name), { recursive: true, force: true });
  }
}

async function restoreFile(from: string, dataDir: string, expected: BackedUpFile): Promise<void> {
  const restored = await copyFile(from, dataDir, expected.path);
  if (restored?.sha256 !== expected.sha256) {
    throw damaged(join(from, expected.path), 'is not what was backed up');
  }
}

function damaged(file: string, what: string): DataDirectoryProblem {
  return new DataDirectoryProblem(`${file} ${what}: the backup is damaged; use another one`, false);
}
