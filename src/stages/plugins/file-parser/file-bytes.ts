import { createHash } from 'node:crypto';
import { runInTurns, type Sliced } from '../../../kit/loop/turns.ts';
import type { Egress } from '../../../net/egress/egress.ts';
import { EgressProblem } from '../../../net/egress/egress-problem.ts';
import { fileRefused } from './file-refused.ts';
import { type FilePart, nameOf } from './find-files.ts';

export interface FileContent {
  readonly bytes: Uint8Array;
  /** SHA-256 of the bytes, in hexadecimal. */
  readonly hash: string;
}

const FETCH_LIMITS = { totalMs: 20_000, maxBytes: 32 * 1024 * 1024, maxRedirects: 5 };

/** Characters of base64 that are decoded in a turn; a multiple of four. */
const SLICE_CHARACTERS = 1024 * 1024;

/** The content of a file in a request, or behind the address that it names. Rejects with a 400 that names the file. */
export async function contentOf(
  file: FilePart,
  egress: Pick<Egress, 'fetch'>,
  signal: AbortSignal,
): Promise<FileContent> {
  const { source } = file;
  if (source.kind === 'base64') return runInTurns(decoded(source.data));
  if (source.kind !== 'url') throw fileRefused(nameOf(file), 'has no content');
  const reply = await egress.fetch(source.url, { limits: FETCH_LIMITS, signal }).catch((problem: unknown) => {
    throw problem instanceof EgressProblem
      ? fileRefused(nameOf(file), `cannot be fetched: ${problem.message}`)
      : problem;
  });
  if (reply.status !== 200) {
    throw fileRefused(nameOf(file), `cannot be fetched: its server answers with status ${reply.status}`);
  }
  if (reply.isCut) throw fileRefused(nameOf(file), `has more than ${FETCH_LIMITS.maxBytes} bytes`);
  return { bytes: reply.bytes, hash: createHash('sha256').update(reply.bytes).digest('hex') };
}

/** Characters at the beginning that show whether base64 is written in lines. */
const LINE_CHARACTERS = 200;

function* decoded(written: string): Sliced<FileContent> {
  const data = /\s/.test(written.slice(0, LINE_CHARACTERS)) ? written.replace(/\s+/g, '') : written;
  const hash = createHash('sha256');
  const pieces: Buffer[] = [];
  for (let from = 0; from < data.length; from += SLICE_CHARACTERS) {
    const piece = Buffer.from(data.slice(from, from + SLICE_CHARACTERS), 'base64');
    hash.update(piece);
    pieces.push(piece);
    yield;
  }
  return { bytes: Buffer.concat(pieces), hash: hash.digest('hex') };
}
