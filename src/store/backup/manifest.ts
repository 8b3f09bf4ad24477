import { createReadStream } from 'node:fs';
import { open, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline';
import { isJsonObject } from '../../kit/json/json.ts';
import { syncDirectory } from '../directory/atomic-files.ts';
import { DataDirectoryProblem } from '../directory/data-directory-problem.ts';

/** Where the state of the installation is: in the data directory, or in PostgreSQL, which the backup does not have. */
export type BackedUpState = 'embedded' | 'postgresql';

export interface BackedUpFile {
  /** Path in the data directory, with `/`. */
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
}

export interface Manifest {
  readonly program: string;
  readonly state: BackedUpState;
  readonly beganAt: string;
  readonly finishedAt: string;
  readonly files: readonly BackedUpFile[];
}

export const MANIFEST_NAME = 'manifest.ndjson';

const FORMAT = 'signalbox-backup';
const VERSION = 1;

const LINES_AT_ONCE = 1_000;

/**
 * Writes the manifest atomically and durably: a line for the backup, a line a file, a line for the end. It is the
 * last file of a backup, so a backup that was cut off has none.
 */
export async function writeManifest(file: string, manifest: Manifest): Promise<void> {
  const draft = `${file}.draft`;
  const handle = await open(draft, 'w', 0o600);
  try {
    const lines = linesOf(manifest);
    for (let begin = 0; begin < lines.length; begin += LINES_AT_ONCE) {
      await handle.appendFile(`${lines.slice(begin, begin + LINES_AT_ONCE).join('\n')}\n`);
    }
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(draft, file);
  await syncDirectory(dirname(file));
}

function linesOf({ program, state, beganAt, finishedAt, files }: Manifest): string[] {
  const head = {
    format: FORMAT,
    version: VERSION,
    program,
    state,
    began_at: beganAt,
    finished_at: finishedAt,
  };
  return [
    JSON.stringify(head),
    ...files.map(({ path, bytes, sha256 }) => JSON.stringify({ path, bytes, sha256 })),
    JSON.stringify({ complete: true, files: files.length }),
  ];
}

/** Reads a manifest. Rejects with a DataDirectoryProblem for a backup that was cut off or is of a later version. */
export async function readManifest(file: string): Promise<Manifest> {
  const lines = await parsedLines(file);
  const [head, ...rest] = lines;
  if (head === undefined || head.format !== FORMAT) throw problem(file, 'is not the manifest of a backup');
  if (head.version !== VERSION) {
    throw problem(
      file,
      `is of version ${head.version}; restore it with the release that made it or a later one`,
    );
  }
  const end = rest.pop();
  if (end?.complete !== true || end.files !== rest.length)
    throw problem(file, 'ends too early: it was cut off');
  const files = rest.map(({ path, bytes, sha256 }) => ({ path, bytes, sha256 }));
  if (!files.every(isBackedUpFile)) throw problem(file, 'has a line that names no file of a data directory');
  return {
    program: String(head.program),
    state: head.state === 'postgresql' ? 'postgresql' : 'embedded',
    beganAt: String(head.began_at),
    finishedAt: String(head.finished_at),
    files: files as unknown as BackedUpFile[],
  };
}

async function parsedLines(file: string): Promise<Record<string, unknown>[]> {
  const lines: Record<string, unknown>[] = [];
  try {
    for await (const line of createInterface({ input: createReadStream(file) })) {
      const value: unknown = JSON.parse(line);
      lines.push(isJsonObject(value) ? (value as Record<string, unknown>) : {});
    }
    return lines;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') {
      throw problem(file, 'is missing: this is no backup, or one that was cut off before its end');
    }
    throw problem(
      file,
      error instanceof SyntaxError ? 'is cut off or damaged' : `cannot be read (${code})`,
      error,
    );
  }
}

/** Paths stay inside the directory that they are restored to. */
function isBackedUpFile(file: Record<keyof BackedUpFile, unknown>): boolean {
  const { path, bytes, sha256 } = file;
  return (
    typeof path === 'string' &&
    path.split('/').every((name) => name !== '' && name !== '.' && name !== '..' && !name.includes('\\')) &&
    Number.isSafeInteger(bytes) &&
    typeof sha256 === 'string'
  );
}

function problem(file: string, what: string, cause?: unknown): DataDirectoryProblem {
  return new DataDirectoryProblem(`${file} ${what}`, false, cause);
}
