import { lstat, mkdir, readdir, rm, rmdir, stat, statfs, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** What a data directory looks like from outside. Nobody has to hold it. */
export type DirectoryLook =
  /** `problem`: the code of why it cannot be made; undefined when it can be. */
  | { readonly kind: 'absent'; readonly problem: string | undefined }
  | { readonly kind: 'unusable'; readonly problem: string }
  | { readonly kind: 'there'; readonly facts: DirectoryFacts };

/** What is known of a data directory that is there. */
export interface DirectoryFacts {
  /** The user that it belongs to; undefined on systems without users. */
  readonly ownerId: number | undefined;
  readonly mode: number;
  /** The code of why a file could not be written; undefined when one could. */
  readonly writeProblem: string | undefined;
  /** For users that are not root. */
  readonly freeBytes: number;
  /** Files that can still be made; undefined where the file system knows no such number. */
  readonly freeFiles: number | undefined;
  /** Files that hold secrets and that other users may read. */
  readonly openSecrets: readonly string[];
  /** Files that belong to another user than the directory does. */
  readonly foreignFiles: readonly string[];
  /** What a gateway has put out of the way because it was damaged. */
  readonly setAside: readonly string[];
}

/** Names of what must be for nobody else. */
const SECRETS = /^(?:hash-key|encryption-key|encryption-rotation|control\.sock|signalbox\.sqlite.*)$/;

const SET_ASIDE = /\.damaged-/;

/**
 * Looks at a data directory. Writes a file of one byte and removes it; where there is no directory, makes one beside its place
 * and removes that.
 */
export async function examineDirectory(path: string): Promise<DirectoryLook> {
  const status = await stat(path).catch(codeOf);
  if (status === 'ENOENT') return { kind: 'absent', problem: await makingProblem(dirname(path)) };
  if (typeof status === 'string') return { kind: 'unusable', problem: status };
  if (!status.isDirectory()) return { kind: 'unusable', problem: 'ENOTDIR' };
  const names = await readdir(path).catch(codeOf);
  if (typeof names === 'string') return { kind: 'unusable', problem: names };
  const { bavail, bsize, files, ffree } = await statfs(path);
  const entries = await lookAt(path, names);
  return {
    kind: 'there',
    facts: {
      ownerId: process.getuid === undefined ? undefined : status.uid,
      mode: status.mode & 0o777,
      writeProblem: await writeProblem(path),
      freeBytes: bavail * bsize,
      freeFiles: files === 0 ? undefined : ffree,
      openSecrets: namesOf(entries, ({ name, mode }) => SECRETS.test(name) && (mode & 0o077) !== 0),
      foreignFiles: namesOf(entries, ({ ownerId }) => ownerId !== status.uid),
      setAside: names.filter((name) => SET_ASIDE.test(name)),
    },
  };
}

/** Why a directory cannot be made in another, whose own parents may be missing too. Permissions do not tell: /proc has them. */
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

/** What lies right in a directory, links left out; nothing on systems without users. */
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
