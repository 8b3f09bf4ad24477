import { dataUrlHead, type InlineFile, kindOf } from '../../dialects/shared/media/inline-file.ts';
import type { StoredFile } from '../../ports/files.ts';

/** Reads the content of a stored file as it is written into a request, piece by piece as it comes from the store. */
export async function readInline(
  { filename, mimeType }: StoredFile,
  pieces: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): Promise<InlineFile> {
  const kind = kindOf(mimeType);
  const encoder = kind === 'text' ? new TextPieces() : new Base64Pieces();
  const written = kind === 'text' ? [] : [dataUrlHead(mimeType)];
  for await (const piece of pieces) {
    signal.throwIfAborted();
    written.push(encoder.push(piece));
  }
  written.push(encoder.end());
  return { filename, mediaType: mimeType, kind, content: written.join('') };
}

/** Bytes that come in pieces as text. */
interface Pieces {
  push(piece: Uint8Array): string;
  end(): string;
}

class TextPieces implements Pieces {
  readonly #decoder = new TextDecoder();

  push(piece: Uint8Array): string {
    return this.#decoder.decode(piece, { stream: true });
  }

  end(): string {
    return this.#decoder.decode();
  }
}

/** Base64 is written three bytes at a time: what is left over waits for the next piece. */
class Base64Pieces implements Pieces {
  #rest: Uint8Array = new Uint8Array(0);

  push(piece: Uint8Array): string {
    const bytes = Buffer.concat([this.#rest, piece]);
    const whole = bytes.length - (bytes.length % 3);
    this.#rest = bytes.subarray(whole);
    return bytes.toString('base64', 0, whole);
  }

  end(): string {
    return Buffer.from(this.#rest).toString('base64');
  }
}
