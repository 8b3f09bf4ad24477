import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { AccountStatement } from '../../ports/money/ledger.ts';
import { makeDirectory, syncDirectory } from '../directory/atomic-files.ts';
import { DataDirectoryProblem } from '../directory/data-directory-problem.ts';
import { OWN_KEY_FILE } from '../directory/secret-files.ts';
import { examineBooks } from '../examine/examine-journal.ts';
import { examineSqlite, readAccountNames } from '../examine/examine-sqlite.ts';
import { diskFilesIn } from '../journal/disk-files.ts';
import { sealAll } from '../journal/open-journal.ts';
import { readJournal } from '../journal/read-journal.ts';
import { numberOfSegment } from '../journal/segment.ts';
import { SNAPSHOT_NAME } from '../ledger/snapshot/snapshot-file.ts';
import { BackupFolder, type RunningBackup } from './backup-folder.ts';
import { copyFile, describeFile } from './copy-file.ts';
import { copyClosedSqlite, copySqlite, dropRowsOfDeletedFiles } from './copy-sqlite.ts';
import {
  type BackedUpFile,
  type BackedUpState,
  MANIFEST_NAME,
  type Manifest,
  writeManifest,
} from './manifest.ts';
import { targetProblem } from './target-problem.ts';

export interface BackupOptions {
  readonly dataDir: string;
  /** The directory of the backup: new, or empty. */
  readonly target: string;
  readonly state: BackedUpState;
  readonly program: string;
  /** False: prompts and answers are left out. */
  readonly withContent: boolean;
  /** False: the directory's own encryption key is left out. */
  readonly withEncryptionKey: boolean;
  /**
   * Puts a copy of the events into the file of a running backup; false if there are none. Asked of the process that
   * has the data directory open. Undefined: no process has it, and the file can be copied as it is.
   */
  readonly copyEvents: ((backup: RunningBackup) => Promise<boolean>) | undefined;
  now(): number;
}

export interface FinishedBackup {
  readonly manifest: Manifest;
  /** The books as the backup has them; empty if they are in PostgreSQL. */
  readonly accounts: readonly AccountStatement[];
  /** By account id; empty if the accounts are in PostgreSQL. */
  readonly accountNames: ReadonlyMap<string, string>;
  /** Generations that were being answered; a restore settles them by their last checkpoint. */
  readonly openReservations: number;
}

/** The part of a backup with the content of the data directory. */
export const DATA_FOLDER = 'data';

/** The database of an embedded state. */
export const DATABASE = 'signalbox.sqlite';
const EVENTS = 'events.duckdb';
const JOURNAL = 'journal';
const FILES = 'files';
const SNAPSHOT = `${JOURNAL}/${SNAPSHOT_NAME}`;
const SECRETS = [OWN_KEY_FILE, 'encryption-rotation', 'hash-key'];

const CONTENT = 'content';

/**
 * Copied as they are. Anything else is copied in a way of its own, is worthless elsewhere (locks, drafts, caches, work
 * of running commands), or is not the gateway's.
 */
const COPIED_AS_IS: ReadonlySet<string> = new Set([
  ...SECRETS,
  CONTENT,
  FILES,
  'catalog.json',
  'events-fed.json',
  'events-imports.json',
  'events-tags.json',
  'request-counts.json',
  'outbox',
  'gateway-id',
  'gateway-owner',
]);

/** State of one gateway beside a shared database: a restored gateway is a new one. */
const OF_ONE_REPLICA: ReadonlySet<string> = new Set(['outbox', 'gateway-id', 'gateway-owner']);

/**
 * Copies a data directory, which a gateway may be using. The order makes the copy consistent: first the snapshot of
 * the books, then the database, the events and the files, last the journal, which keeps its segments meanwhile. So the
 * journal has every record that the other parts lack, and opening the copy replays it as after a crash.
 */
export async function backUpDirectory(options: BackupOptions): Promise<FinishedBackup> {
  const { dataDir, target, now } = options;
  await requireEmpty(target, 'the backup');
  const beganAt = now();
  const folder = new BackupFolder(dataDir);
  folder.removeLeftovers(beganAt);
  // Without a gateway nothing is written beside the data, so that a full or read-only disk can be backed up.
  const running = options.copyEvents && openBeside(folder, dataDir);
  try {
    const data = join(target, DATA_FOLDER);
    makeDirectory(data);
    const files = await copyParts(options, data, running);
    const books = options.state === 'embedded' ? await examineCopy(data) : undefined;
    const manifest: Manifest = {
      program: options.program,
      state: options.state,
      beganAt: new Date(beganAt).toISOString(),
      finishedAt: new Date(now()).toISOString(),
      files,
    };
    await syncDirectory(data);
    await writeManifest(join(target, MANIFEST_NAME), manifest);
    return {
      manifest,
      accounts: books?.accounts ?? [],
      accountNames: books === undefined ? new Map() : await readAccountNames(join(data, DATABASE)),
      openReservations: books?.openReservations ?? 0,
    };
  } catch (error) {
    // Everything is written into the target; the gateway writes its events, and says itself why it cannot.
    throw targetProblem(target, error);
  } finally {
    running?.remove();
  }
}

/** Opens a running backup beside a gateway. Throws a DataDirectoryProblem if the disk of the gateway is full. */
function openBeside(folder: BackupFolder, dataDir: string): RunningBackup {
  try {
    return folder.open();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ENOSPC' && code !== 'EDQUOT') throw error;
    throw new DataDirectoryProblem(
      `the disk of the data directory ${dataDir} is full (${code}), and the running gateway needs room there for a ` +
        'copy of its events; make room, or stop the gateway and run the backup again',
      false,
      error,
    );
  }
}

/** Rejects with a DataDirectoryProblem unless a directory is missing or empty. */
export async function requireEmpty(path: string, what: string): Promise<void> {
  const names = await readdir(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    const reason = error.code === 'ENOTDIR' ? 'a file has its name, or that of a folder above it; ' : '';
    throw new DataDirectoryProblem(
      `${path} cannot be used for ${what} (${error.code}); ${reason}name another directory`,
      false,
      error,
    );
  });
  if (names.every((name) => name === 'lost+found')) return;
  throw new DataDirectoryProblem(`${path} is not empty; name a new or an empty directory for ${what}`, false);
}

async function copyParts(
  options: BackupOptions,
  data: string,
  running: RunningBackup | undefined,
): Promise<readonly BackedUpFile[]> {
  const { dataDir, state, copyEvents } = options;
  const copied: BackedUpFile[] = [];
  const copy = async (path: string, from = dataDir) => {
    const file = await copyFile(from, data, path);
    if (file !== undefined) copied.push(file);
    return file !== undefined;
  };
  const isEmbedded = state === 'embedded';
  // Segments are described after their ends are trimmed.
  if (isEmbedded) await copy(SNAPSHOT);
  const [small, folders] = await entriesOf(options);
  const secrets = await secretsOf(dataDir);
  for (const name of small) await copy(name);
  const copyDatabase = running === undefined ? copyClosedSqlite : copySqlite;
  if (isEmbedded && (await copyDatabase(join(dataDir, DATABASE), join(data, DATABASE)))) {
    if ((await secretsOf(dataDir)) !== secrets) throw rotated();
  }
  if (running === undefined) for (const part of ['', '.wal']) await copy(`${EVENTS}${part}`);
  else if (await copyEvents?.(running)) await copy(EVENTS, running.path);
  for (const name of folders) await copyTree(name, dataDir, copy);
  if (isEmbedded) {
    for (const path of await copyJournal(dataDir, data)) copied.push(await describeFile(data, path));
    const present = new Set(copied.map(({ path }) => path));
    const hasFile = (id: string) => present.has(`${FILES}/${id}`);
    const copyOfDatabase = join(data, DATABASE);
    // Without a gateway no file is deleted meanwhile.
    if (running !== undefined) dropRowsOfDeletedFiles(join(dataDir, DATABASE), copyOfDatabase, hasFile);
    if (existsSync(copyOfDatabase)) copied.push(await describeFile(data, DATABASE));
  }
  return copied;
}

/** Names of files and of folders that are copied as they are. */
async function entriesOf(options: BackupOptions): Promise<readonly [readonly string[], readonly string[]]> {
  const { dataDir, state, withContent, withEncryptionKey } = options;
  const entries = (await readdir(dataDir, { withFileTypes: true })).filter(({ name }) => {
    if (!COPIED_AS_IS.has(name) || (state === 'postgresql' && OF_ONE_REPLICA.has(name))) return false;
    return (withContent || name !== CONTENT) && (withEncryptionKey || name !== OWN_KEY_FILE);
  });
  return [
    entries.filter((entry) => entry.isFile()).map(({ name }) => name),
    entries.filter((entry) => entry.isDirectory()).map(({ name }) => name),
  ];
}

/** The secrets as one text, to notice that one has changed. */
async function secretsOf(dataDir: string): Promise<string> {
  const texts = SECRETS.map((name) => readFile(join(dataDir, name), 'latin1').catch(() => ''));
  return (await Promise.all(texts)).join('\n');
}

function rotated(): DataDirectoryProblem {
  return new DataDirectoryProblem(
    'the encryption key was rotated during the backup; remove what was written and run the backup again',
    false,
  );
}

/** Copies a folder. Files that are removed meanwhile are left out. */
async function copyTree(
  folder: string,
  dataDir: string,
  copy: (path: string) => Promise<boolean>,
): Promise<void> {
  const entries = await readdir(join(dataDir, folder), { withFileTypes: true }).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return [];
      throw error;
    },
  );
  for (const entry of entries) {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) await copyTree(path, dataDir, copy);
    else if (entry.isFile() && !entry.name.endsWith('.draft')) await copy(path);
  }
}

/** Copies the segments and cuts off a record at their end that was half written. Returns their paths. */
async function copyJournal(dataDir: string, data: string): Promise<string[]> {
  const names = await readdir(join(dataDir, JOURNAL)).catch(() => []);
  const numbered = names.flatMap((name) => {
    const number = numberOfSegment(name);
    return number === undefined ? [] : [{ number, path: `${JOURNAL}/${name}` }];
  });
  const paths: string[] = [];
  for (const { path } of numbered.sort((one, other) => one.number - other.number)) {
    if ((await copyFile(dataDir, data, path)) !== undefined) paths.push(path);
  }
  if (paths.length === 0) return [];
  const files = diskFilesIn(join(data, JOURNAL));
  const { segments } = await readJournal(files, () => {});
  await sealAll(files, segments);
  return paths;
}

/** Reads the books of the copy: complete, not older than the database, and right. */
async function examineCopy(data: string) {
  const database = await examineSqlite(join(data, DATABASE));
  return examineBooks(data, database);
}
