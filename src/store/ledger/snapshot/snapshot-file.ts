import { crc32 } from '../../../kit/crypto/crc32.ts';
import type { Json } from '../../../kit/json/json.ts';
import { DataDirectoryProblem } from '../../directory/data-directory-problem.ts';
import { type JournalFiles, readRange, writeAll } from '../../journal/journal-files.ts';
import type { BooksSnapshot } from '../books/books-state.ts';
import {
  inside,
  integerCodec,
  LedgerDataProblem,
  listCodec,
  membersCodec,
  textCodec,
} from '../records/codec.ts';
import { parseSnapshot, renderSnapshot } from './snapshot-lines.ts';

/** A snapshot of the books, and where the journal continues. */
export interface LedgerSnapshot {
  readonly books: BooksSnapshot;
  /** Later records are in this segment and in those after it. */
  readonly segment: number;
  /** All generations settled up to this record have rows. */
  readonly rowsTo: number;
}

/** Stands beside the segments of the journal: neither is complete without the other. */
export const SNAPSHOT_NAME = 'ledger.snapshot';
const DRAFT = `${SNAPSHOT_NAME}.draft`;

const VERSION = 1;
const PIECE_CHARACTERS = 64 * 1024;

/** How far something is made of the records. */
interface Position {
  readonly name: string;
  readonly sequence: number;
}

/** The position of rows, the only one that is still written. */
const ROWS = 'generations';

interface Head {
  readonly version: number;
  readonly segment: number;
  readonly positions: readonly Position[];
}

/** The first line of the file; the books follow, and a checksum comes last. */
const headCodec = membersCodec<Head>({
  version: integerCodec,
  segment: integerCodec,
  positions: listCodec(membersCodec<Position>({ name: textCodec, sequence: integerCodec })),
});

/** Replaces the snapshot atomically and durably: after a power loss there is the old one or the new one. */
export async function writeSnapshotFile(files: JournalFiles, snapshot: LedgerSnapshot): Promise<void> {
  try {
    const file = await files.open(DRAFT, 'create');
    try {
      let position = 0;
      for (const piece of piecesOf(snapshot)) {
        await writeAll(file, piece, position);
        position += piece.length;
      }
      await file.sync();
    } finally {
      await file.close();
    }
    await files.rename(DRAFT, SNAPSHOT_NAME);
    await files.sync();
  } catch (error) {
    // A partial file would only take room from the records.
    await files.remove(DRAFT).catch(() => {});
    throw error;
  }
}

function* piecesOf({ books, segment, rowsTo }: LedgerSnapshot): Generator<Buffer, void, void> {
  const positions = [{ name: ROWS, sequence: rowsTo }];
  let text = `${headCodec.encode({ version: VERSION, segment, positions })}\n`;
  let checksum = 0;
  const piece = () => {
    const bytes = Buffer.from(text);
    text = '';
    checksum = crc32(bytes, checksum);
    return bytes;
  };
  for (const line of renderSnapshot(books)) {
    text += `${line}\n`;
    if (text.length >= PIECE_CHARACTERS) yield piece();
  }
  yield piece();
  yield Buffer.from(`${checksum}\n`);
}

/** The snapshot that is on the disk, or what is wrong with it; neither when there is none. */
export interface FoundSnapshot {
  readonly snapshot?: LedgerSnapshot;
  readonly damage?: LedgerDataProblem;
}

/** Reads the snapshot back. Rejects with a DataDirectoryProblem when its file cannot be read at all. */
export async function readSnapshotFile(files: JournalFiles): Promise<FoundSnapshot> {
  const bytes = await readWhole(files);
  if (bytes === undefined) return {};
  try {
    return { snapshot: parseSnapshotFile(bytes) };
  } catch (error) {
    if (error instanceof LedgerDataProblem) return { damage: error };
    throw error;
  }
}

function parseSnapshotFile(bytes: Buffer): LedgerSnapshot {
  const end = bytes.lastIndexOf(10, -2) + 1;
  const checksum = bytes.subarray(end).toString();
  if (checksum !== `${crc32(bytes.subarray(0, end))}\n`) throw new LedgerDataProblem('its checksum is wrong');
  const [head = '', ...lines] = bytes
    .subarray(0, end - 1)
    .toString()
    .split('\n');
  const { version, segment, positions } = parseHead(head);
  if (version !== VERSION) {
    throw new LedgerDataProblem(
      `it is of version ${version}; this gateway reads version ${VERSION}: start the newer one that wrote it`,
    );
  }
  const rowsTo = positions.find(({ name }) => name === ROWS)?.sequence ?? 0;
  return { books: parseSnapshot(lines), segment, rowsTo };
}

function parseHead(line: string): Head {
  try {
    return headCodec.decode(JSON.parse(line) as Json);
  } catch (error) {
    throw error instanceof SyntaxError
      ? new LedgerDataProblem('its first line is not JSON')
      : inside(error, 'its first line');
  }
}

async function readWhole(files: JournalFiles): Promise<Buffer | undefined> {
  try {
    const file = await files.open(SNAPSHOT_NAME, 'read');
    try {
      return await readRange(file, 0, await file.size());
    } finally {
      await file.close();
    }
  } catch (error) {
    const { code = 'unknown' } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    throw new DataDirectoryProblem(
      `${files.pathOf(SNAPSHOT_NAME)} cannot be read (${code}); look at its permissions and its disk`,
      false,
      error,
    );
  }
}
