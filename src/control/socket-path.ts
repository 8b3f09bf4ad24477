import { lstatSync, mkdtempSync, readlinkSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

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
  const short = join(mkdtempSync(join(shortTemporaryDirectory(), 'signalbox-')), NAME);
  symlinkSync(short, path);
  return short;
}

/** Removes the socket of a data directory whose lock is held, and the private directory if it has one. */
export function releaseSocketPath(dataDir: string): void {
  const path = join(dataDir, NAME);
  const elsewhere = linkTarget(path);
  if (elsewhere !== undefined && /\/signalbox-[^/]+$/.test(dirname(elsewhere))) {
    rmSync(dirname(elsewhere), { recursive: true, force: true });
  }
  rmSync(path, { force: true });
}

/** Where to reach the gateway of a data directory; undefined when it never opened a socket. */
export function findSocketPath(dataDir: string): string | undefined {
  const path = join(dataDir, NAME);
  const target = linkTarget(path);
  if (target !== undefined) return target;
  return fits(path) ? path : undefined;
}

function linkTarget(path: string): string | undefined {
  try {
    return lstatSync(path).isSymbolicLink() ? readlinkSync(path) : undefined;
  } catch {
    return undefined;
  }
}

function shortTemporaryDirectory(): string {
  const usual = tmpdir();
  // Room for `/signalbox-XXXXXX/control.sock`.
  return Buffer.byteLength(usual) <= LONGEST_ADDRESS_BYTES - 31 ? usual : '/tmp';
}

function fits(path: string): boolean {
  return Buffer.byteLength(path) <= LONGEST_ADDRESS_BYTES;
}
