import { crc32, createInflateRaw, type InflateRaw } from 'node:zlib';
import { TransportProblem } from '../../http1/client/transport-problem.ts';

const NOTHING = Buffer.alloc(0);
const MAGIC = Buffer.from([0x1f, 0x8b]);
const DEFLATE = 8;
const HEADER_BYTES = 10;
const TRAILER_BYTES = 8;

/** Bits of the header's flags, each for a field that follows it; the others must not be set. */
const HAS_HEADER_CHECK = 2;
const HAS_EXTRA = 4;
const HAS_NAME = 8;
const HAS_COMMENT = 16;
const UNKNOWN_FLAGS = 0xe0;

/**
 * The content of a gzip file (RFC 1952), member after member. What follows a member and is none is ignored, as browsers do;
 * the decompressor of Node would fail on it, and lose what came in the same piece. Throws a TransportProblem, or an error of
 * the decompressor, where it is no gzip.
 */
export async function* gunzip(
  source: AsyncIterator<Uint8Array>,
): AsyncGenerator<Uint8Array, void, undefined> {
  const input = new Input(source);
  do {
    await skipHeader(input);
    yield* inflateMember(input);
  } while ((await input.has(MAGIC.length)) && input.begins(MAGIC));
}

async function skipHeader(input: Input): Promise<void> {
  const header = await input.take(HEADER_BYTES);
  const flags = header[3] ?? 0;
  if (!header.subarray(0, 2).equals(MAGIC) || header[2] !== DEFLATE || (flags & UNKNOWN_FLAGS) !== 0) {
    throw notGzip();
  }
  if ((flags & HAS_EXTRA) !== 0) await input.take((await input.take(2)).readUInt16LE());
  if ((flags & HAS_NAME) !== 0) await input.skipText();
  if ((flags & HAS_COMMENT) !== 0) await input.skipText();
  if ((flags & HAS_HEADER_CHECK) !== 0) await input.take(2);
}

async function* inflateMember(input: Input): AsyncGenerator<Uint8Array, void, undefined> {
  const inflation = new Inflation();
  let check = 0;
  let length = 0;
  try {
    while (!inflation.isEnded) {
      inflation.write(await input.next());
      for (let out = await inflation.read(); out !== undefined; out = await inflation.read()) {
        check = crc32(out, check);
        length += out.length;
        yield out;
      }
    }
    input.putBack(inflation.unused);
  } finally {
    inflation.close();
  }
  const trailer = await input.take(TRAILER_BYTES);
  if (trailer.readUInt32LE(0) !== check || trailer.readUInt32LE(4) !== length % 2 ** 32) throw notGzip();
}

/** A decompressor that is given one piece at a time, and says where in it the content ended. */
class Inflation {
  readonly #inflate: InflateRaw = createInflateRaw();
  #piece: Uint8Array = NOTHING;
  #givenBytes = 0;
  #isTaken = true;
  #hasSaidEnd = false;
  #failure: Error | undefined;
  #wake: () => void = () => {};

  constructor() {
    this.#inflate.on('readable', () => this.#wake());
    this.#inflate.on('end', () => {
      this.#hasSaidEnd = true;
      this.#wake();
    });
    this.#inflate.on('error', (error) => {
      this.#failure = error;
      this.#wake();
    });
  }

  /** The content has ended. Not all versions of Node say so at once, but bytes that were not used tell it too. */
  get isEnded(): boolean {
    return this.#hasSaidEnd || (this.#isTaken && this.#unusedBytes > 0);
  }

  /** The rest of the last piece, after the end of the content. */
  get unused(): Uint8Array {
    return this.#piece.subarray(this.#piece.length - this.#unusedBytes);
  }

  get #unusedBytes(): number {
    return this.#givenBytes - this.#inflate.bytesWritten;
  }

  write(piece: Uint8Array): void {
    this.#piece = piece;
    this.#givenBytes += piece.length;
    this.#isTaken = false;
    this.#inflate.write(piece, () => {
      this.#isTaken = true;
      this.#wake();
    });
  }

  /** Content of the last piece; undefined when that was all. */
  async read(): Promise<Buffer | undefined> {
    for (;;) {
      const wasTaken = this.#isTaken;
      const out = this.#inflate.read() as Buffer | null;
      if (out !== null) return out;
      if (this.#failure !== undefined) throw this.#failure;
      if (wasTaken || this.#hasSaidEnd) return undefined;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  close(): void {
    this.#inflate.destroy();
  }
}

/** Bytes that are taken in other pieces than they come in. */
class Input {
  readonly #source: AsyncIterator<Uint8Array>;
  #rest: Buffer = NOTHING;

  constructor(source: AsyncIterator<Uint8Array>) {
    this.#source = source;
  }

  /** Whether so many bytes are left. */
  async has(length: number): Promise<boolean> {
    while (this.#rest.length < length) {
      const next = await this.#source.next();
      if (next.done === true) return false;
      this.#rest = Buffer.concat([this.#rest, next.value]);
    }
    return true;
  }

  begins(bytes: Uint8Array): boolean {
    return this.#rest.subarray(0, bytes.length).equals(bytes);
  }

  async take(length: number): Promise<Buffer> {
    if (!(await this.has(length))) throw notGzip();
    const taken = this.#rest.subarray(0, length);
    this.#rest = this.#rest.subarray(length);
    return taken;
  }

  /** Whatever comes next. */
  async next(): Promise<Buffer> {
    if (!(await this.has(1))) throw notGzip();
    return await this.take(this.#rest.length);
  }

  putBack(bytes: Uint8Array): void {
    this.#rest = Buffer.concat([bytes, this.#rest]);
  }

  /** Passes over a text that ends with a zero. */
  async skipText(): Promise<void> {
    while ((await this.take(1))[0] !== 0);
  }
}

function notGzip(): TransportProblem {
  return new TransportProblem('encoding', 'the answer is not in the content coding it claims');
}
