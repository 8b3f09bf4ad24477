import { StringDecoder } from 'node:string_decoder';
import { promisify } from 'node:util';
import { gunzip, gunzipSync, gzip, gzipSync } from 'node:zlib';
import { isJsonObject, type JsonObject, type JsonReading } from '../../kit/json/json.ts';
import { JsonReader } from '../../kit/json/json-reader.ts';
import { stringAt } from '../../kit/json/members.ts';
import { encodeSliced, stringifySliced } from '../../kit/json/stringify-sliced.ts';
import { runInTurns, type Sliced } from '../../kit/loop/turns.ts';
import type { GenerationContent, StoredContent } from '../../ports/content/content.ts';

const compress = promisify(gzip);
const decompress = promisify(gunzip);

/** Limits of the largest request with its answer. */
const LIMITS = { depth: 80, keys: 5_000, values: 500_000 };
const MAX_BYTES = 512 * 1024 * 1024;

/** Content of at most so many bytes is compressed here: another thread takes four times as long for it. */
const SMALL_BYTES = 32 * 1024;

/** Bytes parsed in one slice. */
const SLICE_BYTES = 256 * 1024;

/** Content as its file holds it: compressed JSON with its owner. Sliced, so that the event loop is not blocked. */
export async function encodeContent(stored: StoredContent): Promise<Buffer> {
  const { generationId, accountId, workspaceId, content } = stored;
  const members: JsonObject = {
    generation_id: generationId,
    account_id: accountId,
    workspace_id: workspaceId,
    content,
  };
  const pieces = await runInTurns(stringifySliced(members));
  const bytes = await runInTurns(encodeSliced(pieces));
  return bytes.length <= SMALL_BYTES ? gzipSync(bytes) : compress(bytes);
}

/** Parses a file; undefined when it is damaged, as the last one before a crash may be. */
export async function decodeContent(file: Uint8Array): Promise<StoredContent | undefined> {
  const bytes = await decompressed(file).catch(() => undefined);
  const reading = bytes && (await runInTurns(readSliced(bytes)));
  if (reading?.ok !== true || !isJsonObject(reading.value)) return undefined;
  const members = reading.value;
  const [generationId, accountId, workspaceId] = ['generation_id', 'account_id', 'workspace_id'].map((name) =>
    stringAt(members, name),
  );
  if (generationId === undefined || accountId === undefined || workspaceId === undefined) return undefined;
  const content = members.content as GenerationContent;
  return isJsonObject(content) ? { generationId, accountId, workspaceId, content } : undefined;
}

/** The end of a file says how large its content is. */
async function decompressed(file: Uint8Array): Promise<Buffer> {
  const { buffer, byteOffset, length } = file;
  const size = length < 4 ? 0 : new DataView(buffer, byteOffset, length).getUint32(length - 4, true);
  if (size > SMALL_BYTES) return decompress(file, { maxOutputLength: MAX_BYTES });
  return gunzipSync(file, { maxOutputLength: SMALL_BYTES });
}

function* readSliced(bytes: Buffer): Sliced<JsonReading> {
  const reader = new JsonReader(LIMITS);
  const decoder = new StringDecoder();
  for (let from = 0; from < bytes.length; from += SLICE_BYTES) {
    reader.push(decoder.write(bytes.subarray(from, from + SLICE_BYTES)));
    yield;
  }
  return yield* reader.end();
}
