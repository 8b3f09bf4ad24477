import { Readable, type Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createBrotliDecompress, createInflate, createInflateRaw } from 'node:zlib';
import { TransportProblem } from '../http1/client/transport-problem.ts';
import { gunzip } from './gunzip.ts';

export interface ExpansionLimits {
  readonly maxBytes: number;
  /** Bytes out for each byte in; checked once more than `freeBytes` came out. */
  readonly maxRatio: number;
  readonly freeBytes: number;
}

type Decompressor = (source: CountedSource) => AsyncIterable<Uint8Array>;

/** Decompressors by content coding. `deflate` is sent with and without its zlib wrapper; the first byte tells. */
const DECOMPRESSORS: Readonly<Record<string, Decompressor>> = {
  gzip: (source) => gunzip(source[Symbol.asyncIterator]()),
  'x-gzip': (source) => gunzip(source[Symbol.asyncIterator]()),
  br: (source) => through(createBrotliDecompress(), source),
  deflate: (source) =>
    through(((source.first[0] ?? 0) & 0x0f) === 8 ? createInflate() : createInflateRaw(), source),
};

function through(transform: Transform, source: CountedSource): AsyncIterable<Uint8Array> {
  // The reader of the transform sees the same error; this promise only repeats it.
  pipeline(Readable.from(source, { objectMode: false }), transform).catch(() => {});
  return transform;
}

/**
 * The body behind a content coding, under back-pressure and in bounded memory. Throws a TransportProblem when the
 * coding is unknown, the bytes are not in it, or they expand too far.
 */
export function decompress(
  chunks: AsyncIterable<Uint8Array>,
  contentEncoding: string | undefined,
  limits: ExpansionLimits,
): AsyncIterable<Uint8Array> {
  const coding = (contentEncoding ?? 'identity').trim().toLowerCase();
  if (coding === 'identity' || coding === '') return chunks;
  const decompressor = Object.hasOwn(DECOMPRESSORS, coding) ? DECOMPRESSORS[coding] : undefined;
  const source = chunks[Symbol.asyncIterator]();
  const expanded = expand(source, decompressor, limits);
  return {
    [Symbol.asyncIterator]: () => ({
      next: () => expanded.next(),
      // The source first: a generator that waits for bytes, or has not begun, cannot close it by itself.
      return: async () => {
        await source.return?.();
        return expanded.return();
      },
    }),
  };
}

async function* expand(
  source: AsyncIterator<Uint8Array>,
  decompressor: Decompressor | undefined,
  limits: ExpansionLimits,
): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    if (decompressor === undefined) {
      throw new TransportProblem('encoding', 'the answer is in an unknown content coding');
    }
    const first = await source.next();
    if (first.done === true) return;
    const counted = new CountedSource(first.value, source);
    yield* limited(decompressor(counted), counted, limits);
  } finally {
    await source.return?.();
  }
}

/** Counts the compressed bytes that were read. */
class CountedSource implements AsyncIterable<Uint8Array> {
  bytes = 0;
  readonly first: Uint8Array;
  readonly #rest: AsyncIterator<Uint8Array>;

  constructor(first: Uint8Array, rest: AsyncIterator<Uint8Array>) {
    this.first = first;
    this.#rest = rest;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void, undefined> {
    this.bytes += this.first.length;
    yield this.first;
    for (;;) {
      const next = await this.#rest.next();
      if (next.done === true) return;
      this.bytes += next.value.length;
      yield next.value;
    }
  }
}

async function* limited(
  content: AsyncIterable<Uint8Array>,
  source: CountedSource,
  limits: ExpansionLimits,
): AsyncGenerator<Uint8Array, void, undefined> {
  let expanded = 0;
  try {
    for await (const chunk of content) {
      expanded += chunk.length;
      if (
        expanded > limits.maxBytes ||
        (expanded > limits.freeBytes && expanded > source.bytes * limits.maxRatio)
      ) {
        throw new TransportProblem('too-large', 'the compressed answer expands too far');
      }
      yield chunk;
    }
  } catch (error) {
    throw isCodingError(error)
      ? new TransportProblem('encoding', 'the answer is not in the content coding it claims')
      : error;
  }
}

/** Errors of the decompressors, as opposed to those of the source behind them. */
function isCodingError(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return code.startsWith('Z_') || code.startsWith('ERR_') || code.includes('BROTLI');
}
