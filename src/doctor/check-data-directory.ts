import { join } from 'node:path';
import type { Runtime } from '../config/runtime.ts';
import { countText } from '../kit/text/count-text.ts';
import { bytesText } from '../kit/text/quantities.ts';
import { hasKeptData } from '../store/directory/data-directory.ts';
import type { DirectoryFacts } from '../store/examine/examine-directory.ts';
import { type CheckFinding, fine, problem, problemOf, warning } from './finding.ts';
import type { Holder, Situation } from './situation.ts';

const MEBIBYTE = 1024 * 1024;

/** Less free space than this is a warning, or a problem. */
const FREE_SPACE = {
  bytes: { warning: 1024 * MEBIBYTE, problem: 64 * MEBIBYTE },
  files: { warning: 10_000, problem: 100 },
} as const;

/** Advice by error code of the system. */
const MENDS: Readonly<Record<string, string>> = {
  EACCES: 'give it to the user that runs the gateway (chown), or run this command as that user',
  EPERM: 'give it to the user that runs the gateway (chown), or run this command as that user',
  EROFS: 'mount its file system for writing, or choose another directory with --data-dir',
  ENOSPC: 'free space on its disk',
  EDQUOT: 'free space within the quota of its user',
  ENOTDIR: 'move the file of that name away, or choose another directory with --data-dir',
};

const OTHER_MEND = 'check the disk and its mount, or choose another directory with --data-dir';

/** Checks that the data directory exists, is private and writable, and has free space. */
export async function checkDataDirectory({ runtime, directory, holder }: Situation): Promise<CheckFinding[]> {
  const { dataDir } = runtime;
  switch (directory.kind) {
    case 'absent':
      return [absent(runtime, directory.problem)];
    case 'unusable':
      return [unusable(`${dataDir} cannot be read as a directory`, directory.problem)];
    case 'frozen':
      return [
        problem(
          `the disk of ${dataDir} does not answer; what is on it was not checked`,
          'check the device, or the network file system and its server',
        ),
      ];
    case 'there':
      return [
        ...(holder.kind === 'none' && !hasKeptData(dataDir)
          ? [withoutData(runtime, 'holds no data of a gateway')]
          : []),
        ...writing(dataDir, directory.facts),
        ...room(dataDir, directory.facts),
        ...privacy(dataDir, directory.facts),
        ...owners(dataDir, directory.facts),
        ...leftovers(dataDir, directory.facts),
        ...use(dataDir, holder),
      ];
  }
}

/** A process that uses the directory and does not answer, or why that is not known. */
function use(dataDir: string, holder: Holder): CheckFinding[] {
  switch (holder.kind) {
    case 'silent':
      return [
        warning(
          `${dataDir} is in use by a process that does not answer: ${holder.problem}`,
          'wait until it has started or ended, and run signalbox doctor again',
        ),
      ];
    case 'unknown': {
      const { code } = holder.error as NodeJS.ErrnoException;
      return [
        code === undefined
          ? problemOf(holder.error)
          : unusable(`${join(dataDir, 'lock')} cannot be locked`, code),
      ];
    }
    default:
      return [];
  }
}

function absent(runtime: Runtime, code: string | undefined): CheckFinding {
  if (code !== undefined) return unusable(`${runtime.dataDir} does not exist and cannot be created`, code);
  return withoutData(runtime, 'does not exist');
}

/** Without a shared database nothing is left to check, so that the name is probably wrong. */
function withoutData({ dataDir, database }: Runtime, lack: string): CheckFinding {
  const finding = database === undefined ? problem : warning;
  return finding(
    `${dataDir} ${lack}`,
    'the first start fills it; if you have one elsewhere, name it with --data-dir or SIGNALBOX_DATA_DIR',
  );
}

function unusable(what: string, code: string): CheckFinding {
  return problem(`${what} (${code})`, MENDS[code] ?? OTHER_MEND);
}

function writing(dataDir: string, { writeProblem, ownerId }: DirectoryFacts): CheckFinding[] {
  if (writeProblem === undefined) return [];
  const owner = ownerId === undefined ? '' : `, it belongs to user ${ownerId}`;
  return [unusable(`${dataDir} is not writable${owner}`, writeProblem)];
}

function room(dataDir: string, { freeBytes, freeFiles }: DirectoryFacts): CheckFinding[] {
  const what = `${dataDir}: ${bytesText(freeBytes)} free`;
  const figures = { free_bytes: freeBytes, ...(freeFiles !== undefined && { free_files: freeFiles }) };
  const mend = 'free space on its disk, or lower the retention in the configuration';
  if (freeBytes < FREE_SPACE.bytes.problem) return [problem(what, mend, figures)];
  if (freeBytes < FREE_SPACE.bytes.warning) return [warning(what, mend, figures)];
  const files = freeFiles ?? Number.POSITIVE_INFINITY;
  const filesWhat = `${dataDir}: room for ${countText(files, 'more file')}`;
  if (files < FREE_SPACE.files.problem) return [problem(filesWhat, 'remove files from its disk', figures)];
  if (files < FREE_SPACE.files.warning) return [warning(filesWhat, 'remove files from its disk', figures)];
  return [fine(what, figures)];
}

function privacy(dataDir: string, { mode, openSecrets }: DirectoryFacts): CheckFinding[] {
  const isOpen = process.getuid !== undefined && (mode & 0o077) !== 0;
  const shown = mode.toString(8).padStart(4, '0');
  return [
    ...(isOpen
      ? [warning(`${dataDir} is open to other users (mode ${shown})`, `chmod 700 ${shellWord(dataDir)}`)]
      : []),
    ...openSecrets.map((name) =>
      warning(`${join(dataDir, name)} is open to other users`, `chmod 600 ${shellWord(join(dataDir, name))}`),
    ),
  ];
}

/** Files of another user, left by commands run as that user, which the gateway cannot change. */
function owners(dataDir: string, { foreignFiles, ownerId }: DirectoryFacts): CheckFinding[] {
  return foreignFiles.map((name) =>
    warning(
      `${join(dataDir, name)} does not belong to the owner of the directory (user ${ownerId})`,
      `chown -R ${ownerId} ${shellWord(join(dataDir, name))}, and run commands as the user that runs the gateway`,
    ),
  );
}

function leftovers(dataDir: string, { setAside }: DirectoryFacts): CheckFinding[] {
  return setAside.map((name) =>
    warning(
      `${join(dataDir, name)} was put aside because it was damaged`,
      'remove it when it is no longer needed to find the cause',
    ),
  );
}

/** Words that need no quotes. */
const PLAIN = /^[\w@%+=:,./-]+$/;

/** Control characters and line separators. */
const CONTROL = /[\p{C}\p{Zl}\p{Zp}]/u;

/** Characters that are escaped inside `$'...'`. */
const ESCAPED = /[\\'\p{C}\p{Zl}\p{Zp}]/gu;

/** Quotes a name for a shell. */
export function shellWord(text: string): string {
  if (PLAIN.test(text)) return text;
  return CONTROL.test(text)
    ? `$'${text.replace(ESCAPED, escapeOf)}'`
    : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

function escapeOf(character: string): string {
  return String.raw`\U${(character.codePointAt(0) ?? 0).toString(16).padStart(8, '0')}`;
}
