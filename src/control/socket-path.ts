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

/** Addresses of unix sockets are cut at 104 bytes on some systems and at 108 on others, without a word. */
const LONGEST_ADDRESS_BYTES = 100;

const NAME = 'control.sock';

/**
 * Makes room for a socket in a data directory whose lock is held, so that whatever is there is stale. Where the path is
 * too long for an address the socket lives in a new private directory and a link in the data directory tells where.
 */
export function claimSocketPath(dataDir: string): string {
  const path = join(dataDir, NAME);
  releaseSocketPath(dataDir);
  if (fits(path)) return path;
  const short = join(mkdtempSync(join(shortTemporaryDirectory(), privatePrefix(dataDir))), NAME);
  symlinkSync(short, path);
  return short;
}

/** Removes the socket of a data directory whose lock is held, and the private directory that was made for it. */
export function releaseSocketPath(dataDir: string): void {
  const path = join(dataDir, NAME);
  const elsewhere = linkTarget(path);
  if (elsewhere !== undefined) removePrivateDirectory(dataDir, elsewhere);
  removeEntry(path);
}

/** Where to reach the gateway of a data directory; undefined when it never opened a socket. */
export function findSocketPath(dataDir: string): string | undefined {
  const path = join(dataDir, NAME);
  const target = linkTarget(path);
  if (target !== undefined) return target;
  return fits(path) ? path : undefined;
}

/**
 * A link can be planted, so it only says where to look: a directory is removed when it was made here for this data
 * directory, holds the socket at most, and is nobody else's. Anything else is left alone.
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
    // A directory that stays behind in the temporary place harms nobody.
  }
}

function isPrivate(directory: string): boolean {
  const status = lstatSync(directory);
  return status.isDirectory() && status.uid === process.getuid?.() && (status.mode & 0o777) === 0o700;
}

/** Tells the private directories of one data directory from those of all others. */
function privatePrefix(dataDir: string): string {
  return `signalbox-${createHash('sha256').update(resolve(dataDir)).digest('hex').slice(0, 8)}-`;
}

/** Removes a file, a socket or a link itself; never what a link points to, never a directory. */
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
  return Buffer.byteLength(usual) <= LONGEST_ADDRESS_BYTES - 39 ? usual : '/tmp';
}

function fits(path: string): boolean {
  return Buffer.byteLength(path) <= LONGEST_ADDRESS_BYTES;
}
