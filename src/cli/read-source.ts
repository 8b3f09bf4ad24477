import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { CommandRefused } from '../control/send-command.ts';
import { urlOf } from '../kit/net/url-of.ts';

/** Timeout of the whole download, milliseconds. */
const FETCH_TIMEOUT_MS = 30_000;

const FETCHED: ReadonlySet<string> = new Set(['http', 'https']);

/** Reads a file or an http(s) address. Rejects with CommandRefused, also above `maxBytes`. */
export async function readSource(source: string, maxBytes: number): Promise<string> {
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(source)?.[1]?.toLowerCase();
  if (scheme === undefined) return fileText(source, maxBytes);
  if (FETCHED.has(scheme)) return fetchText(source, maxBytes);
  throw new CommandRefused(`${scheme}:// is not supported: give an http(s) address or the name of a file`);
}

function fileText(path: string, maxBytes: number): string {
  const descriptor = openFile(path);
  try {
    if (!fstatSync(descriptor).isFile()) throw new CommandRefused(`${path} is not a file`);
    const bytes = Buffer.alloc(maxBytes + 1);
    let length = 0;
    for (;;) {
      const count = readSync(descriptor, bytes, length, bytes.length - length, null);
      length += count;
      if (length > maxBytes) throw tooLarge(path, maxBytes);
      if (count === 0) return bytes.toString('utf8', 0, length);
    }
  } finally {
    closeSync(descriptor);
  }
}

function openFile(path: string): number {
  try {
    // O_NONBLOCK: opening a FIFO would otherwise wait for a writer.
    return openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    const { code = 'unknown' } = error as NodeJS.ErrnoException;
    throw new CommandRefused(`${path} ${code === 'ENOENT' ? 'does not exist' : `cannot be read (${code})`}`);
  }
}

async function fetchText(address: string, maxBytes: number): Promise<string> {
  const shown = withoutSecrets(address);
  try {
    const reply = await fetch(address, {
      headers: { accept: 'application/json' },
      signal: AbortSignal.timeout(FETCH_TIMEOUT_MS),
    });
    if (!reply.ok) throw new CommandRefused(`${shown} answered with status ${reply.status}`);
    const pieces: Uint8Array[] = [];
    let length = 0;
    for await (const piece of reply.body ?? []) {
      length += piece.length;
      if (length > maxBytes) throw tooLarge(shown, maxBytes);
      pieces.push(piece);
    }
    return Buffer.concat(pieces).toString('utf8');
  } catch (error) {
    if (error instanceof CommandRefused) throw error;
    throw new CommandRefused(`${shown} cannot be read (${reasonOf(error)})`);
  }
}

function tooLarge(source: string, maxBytes: number): CommandRefused {
  return new CommandRefused(`${source} is larger than ${maxBytes} bytes`);
}

/** Drops user, password and query, which may hold secrets. */
function withoutSecrets(address: string): string {
  const url = urlOf(address);
  return url === undefined ? 'the address' : `${url.origin}${url.pathname}`;
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  if (error.name === 'TimeoutError') return `no answer within ${FETCH_TIMEOUT_MS / 1000} s`;
  const { code } = (error.cause ?? {}) as { code?: unknown };
  return typeof code === 'string' ? code : 'it is not an address that can be asked';
}
