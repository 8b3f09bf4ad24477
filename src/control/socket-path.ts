import { createHash } from 'node:crypto';
import {
  lstatSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  rmdirSync,
  symlinkSync,
  unlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';

/** Some systems silently cut the path of a unix socket at 104 bytes, others at 108. */
const MAX_ADDRESS_BYTES = 100;

const NAME = 'control.sock';

/**
 * Returns the path for a new socket; call it only with the lock held, so that an existing socket is stale and is
 * removed. If the path is too long, the socket is in a new private directory and the data directory has a symlink to
 * it.
 */
export function claimSocketPath(dataDir: string): string {
  const path = join(dataDir, NAME);
  releaseSocketPath(dataDir);
  if (fits(path)) return path;
  const short = join(mkdtempSync(join(shortTemporaryDirectory(), privatePrefix(dataDir))), NAME);
  symlinkSync(short, path);
  return short;
}

/** Removes the socket and its private directory. Call it only with the lock held. */
export function releaseSocketPath(dataDir: string): void {
  const path = join(dataDir, NAME);
  const elsewhere = linkTarget(path);
  if (elsewhere !== undefined) removePrivateDirectory(dataDir, elsewhere);
  removeEntry(path);
}

/** The socket of a data directory; undefined if there cannot be one. */
export function findSocketPath(dataDir: string): string | undefined {
  const path = join(dataDir, NAME);
  const target = linkTarget(path);
  if (target !== undefined) return target;
  return fits(path) ? path : undefined;
}

/**
 * A symlink can be forged, so its target is checked: a directory is removed only if its name is ours for this data
 * directory, it is owned by us with mode 0700, and it holds nothing but the socket.
 */
function removePrivateDirectory(dataDir: string, socket: string): void {
  const directory = dirname(socket);
  const isOurName =
    socket === join(directory, NAME) &&
    dirname(directory) === shortTemporaryDirectory() &&
    basename(directory).startsWith(privatePrefix(dataDir));
  try {
    if (!isOurName || !isPrivate(directory)) return;
    if (readdirSync(directory).some((name) => name !== NAME)) return;
    if (lstatSync(socket, { throwIfNoEntry: false })?.isSocket()) removeEntry(socket);
    rmdirSync(directory);
  } catch {
    // A leftover directory in the temporary place does no harm.
  }
}

function isPrivate(directory: string): boolean {
  const status = lstatSync(directory);
  return status.isDirectory() && status.uid === process.getuid?.() && (status.mode & 0o777) === 0o700;
}

function privatePrefix(dataDir: string): string {
  return `signalbox-${createHash('sha256').update(resolve(dataDir)).digest('hex').slice(0, 8)}-`;
}

/** Removes a file, socket or symlink; never a symlink's target, never a directory. */
function removeEntry(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}

function linkTarget(path: string): string | undefined {
  try {
    return lstatSync(path).isSymbolicLink() ? readlinkSync(path) : undefined;
  } catch {
    return undefined;
  }
}

function shortTemporaryDirectory(): string {
  const usual = resolve(tmpdir());
  // Room for `/signalbox-12345678-XXXXXX/control.sock`.
  return Buffer.byteLength(usual) <= MAX_ADDRESS_BYTES - 39 ? usual : '/tmp';
}

function fits(path: string): boolean {
  return Buffer.byteLength(path) <= MAX_ADDRESS_BYTES;
}
