import { crc32, createInflateRaw, type InflateRaw } from 'node:zlib';
import { TransportProblem } from '../http1/client/transport-problem.ts';

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
 * Decompresses gzip (RFC 1952), member after member. Bytes after the last member are ignored, as browsers do: Node's
 * own `Gunzip` fails on them and loses the content of the same piece. Throws a TransportProblem, or an error of zlib,
 * if the bytes are no gzip.
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

/** Inflates one piece at a time, and reports where in it the content ended. */
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

  /** The content has ended. Some versions of Node emit `end` late; unused bytes of a consumed piece mean the same. */
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

/** Regroups the bytes of a source into pieces of the wanted lengths. */
class Input {
  readonly #source: AsyncIterator<Uint8Array>;
  #rest: Buffer = NOTHING;

  constructor(source: AsyncIterator<Uint8Array>) {
    this.#source = source;
  }

  /** Buffers up to `length` bytes; false if the source ends before. */
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

  /** All buffered bytes, or the next piece of the source. */
  async next(): Promise<Buffer> {
    if (!(await this.has(1))) throw notGzip();
    return await this.take(this.#rest.length);
  }

  putBack(bytes: Uint8Array): void {
    this.#rest = Buffer.concat([bytes, this.#rest]);
  }

  /** Skips a zero-terminated text. */
  async skipText(): Promise<void> {
    while ((await this.take(1))[0] !== 0);
  }
}

function notGzip(): TransportProblem {
  return new TransportProblem('encoding', 'the answer is not in the content coding it claims');
}
