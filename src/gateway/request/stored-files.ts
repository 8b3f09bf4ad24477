import { dataUrlHead, type InlineFile, kindOf } from '../../dialects/shared/media/inline-file.ts';
import {
  type FileParts,
  type FilledBody,
  fileNotFound,
  placeFiles,
  refuseMisplaced,
  type StoredFileNaming,
  storedFilesIn,
} from '../../dialects/shared/media/stored-files.ts';
import { GatewayError } from '../../ir/errors.ts';
import { NO_ENTRIES } from '../../ir/metadata.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import type { FileBytes, FileStore, StoredFile } from '../../ports/content/files.ts';

export interface StoredFiles {
  readonly store: Pick<FileStore, 'find'>;
  readonly bytes: Pick<FileBytes, 'read'>;
}

/** The workspace whose files a request may name, and limits. */
export interface FileAccess {
  /** The workspace of the key; files of others are not found. */
  readonly workspaceId: string;
  /** Bytes of all places that name files, as written into the body. */
  readonly maxBytes: number;
  /** The largest prompt of any endpoint that may serve the request; infinite if unknown. */
  readonly maxPromptTokens: () => Promise<number>;
  /** Takes memory for the content; throws if there is too little. */
  readonly takeRoom: (bytes: number) => void;
  readonly signal: AbortSignal;
}

/**
 * Inserts the content of stored files at the places that name them, as if the caller had written it there. Throws 404
 * for a file outside the workspace, 400 for one that is not possible at its place or has more text than any endpoint
 * takes, 413 if all are too large, 503 if there is too little memory. All that is checked before anything is read. Then
 * 503 for content that is not as long as the file.
 * Returns a body without files, as nearly all are, at once and unchanged.
 */
export function withStoredFiles(
  body: JsonObject,
  parts: FileParts | undefined,
  files: StoredFiles,
  accessTo: () => FileAccess,
): FilledBody | Promise<FilledBody> {
  const namings = parts === undefined ? [] : storedFilesIn(body, parts);
  if (parts === undefined || namings.length === 0) return { body, report: NO_ENTRIES };
  return withContents(body, parts, namings, files, accessTo());
}

async function withContents(
  body: JsonObject,
  parts: FileParts,
  namings: readonly StoredFileNaming[],
  files: StoredFiles,
  access: FileAccess,
): Promise<FilledBody> {
  const found = await find(namings, files, access);
  await refuseTooLong([...found.values()], access);
  access.takeRoom(sumOf([...found.values()], memoryBytes));
  const contents = new Map<string, InlineFile>();
  for (const [naming, file] of found) {
    if (contents.has(file.id)) continue;
    const pieces = await files.bytes.read(file.id);
    if (pieces === undefined) throw fileNotFound(naming);
    contents.set(file.id, await readInline(file, pieces, access.signal));
  }
  return placeFiles(body, parts, contents);
}

/** The form of file ids: other ids name no file, may have any length, and are not looked up. */
const FILE_ID = /^file_[0-9A-Za-z]{24}$/;

async function find(
  namings: readonly StoredFileNaming[],
  { store }: StoredFiles,
  { workspaceId, maxBytes, signal }: FileAccess,
): Promise<ReadonlyMap<StoredFileNaming, StoredFile>> {
  const known = new Map<string, StoredFile>();
  const found = new Map<StoredFileNaming, StoredFile>();
  let bytes = 0;
  for (const naming of namings) {
    const { fileId, path } = naming;
    signal.throwIfAborted();
    const file =
      known.get(fileId) ?? (FILE_ID.test(fileId) ? await store.find(workspaceId, fileId) : undefined);
    if (file === undefined) throw fileNotFound(naming);
    refuseMisplaced(naming, file.mimeType);
    bytes += writtenBytes(file);
    if (bytes > maxBytes) throw tooMuch(path, maxBytes);
    known.set(fileId, file);
    found.set(naming, file);
  }
  return found;
}

function tooMuch(path: string, maxBytes: number): GatewayError {
  return new GatewayError(
    'payload-too-large',
    `${path}: with this file the stored files of the request come to more than ${maxBytes} bytes as they are sent (server.max_body_bytes)`,
  );
}

/** Text is written as it is, everything else in base64. */
function writtenBytes(file: StoredFile): number {
  return isText(file) ? file.sizeBytes : 4 * Math.ceil(file.sizeBytes / 3);
}

/** One character beyond Latin-1 makes every character of a text take two bytes. */
function memoryBytes(file: StoredFile): number {
  return isText(file) ? 2 * file.sizeBytes : writtenBytes(file);
}

/** Upper bound of the average bytes of a token: prose has three or four, deeply indented data some more. */
const MAX_BYTES_PER_TOKEN = 16;

/** Refuses text that is longer than any prompt may be. The rest is counted when it is read. */
async function refuseTooLong(files: readonly StoredFile[], { maxPromptTokens }: FileAccess): Promise<void> {
  const bytes = sumOf(files.filter(isText), writtenBytes);
  if (bytes === 0) return;
  const most = await maxPromptTokens();
  const least = Math.ceil(bytes / MAX_BYTES_PER_TOKEN);
  if (least <= most) return;
  const more = `Its text files have ${bytes} bytes, at least so many tokens: name shorter ones or choose a model with a larger context.`;
  throw new GatewayError(
    'context-length',
    `The prompt has at least ${least} tokens, and the requested model takes ${most}. ${more}`,
    { overflow: { most, prompt: least, more } },
  );
}

function isText({ mimeType }: StoredFile): boolean {
  return kindOf(mimeType) === 'text';
}

function sumOf(files: readonly StoredFile[], bytesOf: (file: StoredFile) => number): number {
  return files.reduce((sum, file) => sum + bytesOf(file), 0);
}

/** Reads the content of a stored file as a request has it, piece by piece as it comes from the store. */
async function readInline(
  { filename, mimeType, sizeBytes }: StoredFile,
  pieces: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): Promise<InlineFile> {
  const kind = kindOf(mimeType);
  const encoder = kind === 'text' ? new TextPieces() : new Base64Pieces();
  const written = kind === 'text' ? [] : [dataUrlHead(mimeType)];
  let readBytes = 0;
  for await (const piece of pieces) {
    signal.throwIfAborted();
    readBytes += piece.length;
    if (readBytes > sizeBytes) throw otherLength(readBytes, sizeBytes);
    written.push(encoder.push(piece));
  }
  if (readBytes !== sizeBytes) throw otherLength(readBytes, sizeBytes);
  written.push(encoder.end());
  return { filename, mediaType: mimeType, kind, content: written.join('') };
}

/** A model that reads half of a file would answer as if it were all of it. */
function otherLength(readBytes: number, sizeBytes: number): GatewayError {
  return new GatewayError(
    'overloaded',
    'Service temporarily unavailable: the storage of files sent another length of a file than it has',
    { retryAfterSeconds: 10, cause: new Error(`${readBytes} bytes were read of a file of ${sizeBytes}`) },
  );
}

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

/** Base64 encodes three bytes at a time: the remainder waits for the next piece. */
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
