import { lstat, mkdir, readdir, rm, rmdir, stat, statfs, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isInTime } from '../../kit/loop/is-in-time.ts';

/** A data directory as seen without its lock. */
export type DirectoryFinding =
  /** `problem`: error code when it cannot be created; undefined when it can. */
  | { readonly kind: 'absent'; readonly problem: string | undefined }
  | { readonly kind: 'unusable'; readonly problem: string }
  /** A write to its disk does not end. */
  | { readonly kind: 'frozen' }
  | { readonly kind: 'there'; readonly facts: DirectoryFacts };

export interface DirectoryFacts {
  /** Its owner; undefined on systems without user ids. */
  readonly ownerId: number | undefined;
  readonly mode: number;
  /** Error code when a file cannot be written; undefined when it can. */
  readonly writeProblem: string | undefined;
  /** Available to users other than root. */
  readonly freeBytes: number;
  /** Free inodes; undefined when the file system has no such number. */
  readonly freeFiles: number | undefined;
  /** Secret files that other users may read. */
  readonly openSecrets: readonly string[];
  /** Files of another user than the directory's owner. */
  readonly foreignFiles: readonly string[];
  /** Damaged files that a gateway has renamed. */
  readonly setAside: readonly string[];
}

/** Names of files that only the owner may read. */
const SECRETS = /^(?:hash-key|encryption-key|encryption-rotation|control\.sock|signalbox\.sqlite.*)$/;

const SET_ASIDE = /\.damaged-/;

/** How long the disk may take for a write of one byte, milliseconds. */
const WRITE_MS = 3_000;

/**
 * Examines a data directory. Writes a file of one byte and removes it; if there is no directory, creates and removes
 * one beside it.
 */
export async function examineDirectory(path: string): Promise<DirectoryFinding> {
  const status = await stat(path).catch(codeOf);
  if (status === 'ENOENT') return { kind: 'absent', problem: await makingProblem(dirname(path)) };
  if (typeof status === 'string') return { kind: 'unusable', problem: status };
  if (!status.isDirectory()) return { kind: 'unusable', problem: 'ENOTDIR' };
  const names = await readdir(path).catch(codeOf);
  if (typeof names === 'string') return { kind: 'unusable', problem: names };
  const { bavail, bsize, files, ffree } = await statfs(path);
  const entries = await lookAt(path, names);
  const writing = writeProblem(path);
  if (!(await isInTime(writing, WRITE_MS))) return { kind: 'frozen' };
  return {
    kind: 'there',
    facts: {
      ownerId: process.getuid === undefined ? undefined : status.uid,
      mode: status.mode & 0o777,
      writeProblem: await writing,
      freeBytes: bavail * bsize,
      freeFiles: files === 0 ? undefined : ffree,
      openSecrets: namesOf(entries, ({ name, mode }) => SECRETS.test(name) && (mode & 0o077) !== 0),
      foreignFiles: namesOf(entries, ({ ownerId }) => ownerId !== status.uid),
      setAside: names.filter((name) => SET_ASIDE.test(name)),
    },
  };
}

/**
 * Why a directory cannot be created below a parent, which may be missing too. Tries it, because /proc has permissions
 * too.
 */
async function makingProblem(parent: string): Promise<string | undefined> {
  const status = await stat(parent).catch(codeOf);
  if (status === 'ENOENT') return makingProblem(dirname(parent));
  if (typeof status === 'string') return status;
  if (!status.isDirectory()) return 'ENOTDIR';
  const probe = join(parent, `signalbox-doctor-${process.pid}.draft`);
  return mkdir(probe, { mode: 0o700 }).then(async () => {
    await rmdir(probe).catch(() => {});
    return undefined;
  }, codeOf);
}

async function writeProblem(directory: string): Promise<string | undefined> {
  const file = join(directory, `doctor-${process.pid}.draft`);
  try {
    await writeFile(file, '\n', { mode: 0o600, flag: 'wx' });
    return undefined;
  } catch (error) {
    return codeOf(error);
  } finally {
    await rm(file, { force: true }).catch(() => {});
  }
}

interface Entry {
  readonly name: string;
  readonly mode: number;
  readonly ownerId: number;
}

/** Entries of a directory without links; none on systems without user ids. */
async function lookAt(directory: string, names: readonly string[]): Promise<Entry[]> {
  if (process.getuid === undefined) return [];
  const entries = await Promise.all(
    names.map(async (name) => {
      const status = await lstat(join(directory, name)).catch(() => undefined);
      if (status === undefined || status.isSymbolicLink()) return [];
      return [{ name, mode: status.mode, ownerId: status.uid }];
    }),
  );
  return entries.flat();
}

function namesOf(entries: readonly Entry[], isMeant: (entry: Entry) => boolean): string[] {
  return entries.filter(isMeant).map(({ name }) => name);
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? 'unknown';
}
