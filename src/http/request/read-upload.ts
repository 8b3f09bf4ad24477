import { Readable } from 'node:stream';
import { Busboy, type BusboyInstance as Form } from '@fastify/busboy';
import { FILE_PURPOSES } from '../../contract/workspaces/file.ts';
import { GatewayError, invalidRequest } from '../../ir/errors.ts';
import { quoted } from '../../kit/text/quoted.ts';
import type { InboundRequest } from '../../net/http1/server/inbound-request.ts';
import type { HttpExchange } from '../exchange/http-exchange.ts';
import type { BodyLimits } from './read-body.ts';

/** Takes the content of a file, piece by piece; the next comes when the last was taken. */
export type TakePiece = (piece: Uint8Array) => Promise<void>;

/** How much of an upload is read, and for how long. `tooLarge` is what is said about more. */
export interface UploadLimits extends BodyLimits {
  readonly tooLarge: () => GatewayError;
}

/** Bytes of a form around its one file: boundaries and heads of parts. */
const FRAME_BYTES = 65_536;

/** The one part that a form must have. */
const PART = 'file';

/** Encodings that leave bytes as they are. */
const PLAIN_ENCODINGS: ReadonlySet<string> = new Set(['7bit', '8bit', 'binary']);

/**
 * Reads a form with one file; resolves with the name of the file once all of the form has come and is whole. Throws
 * 400, 408 and 413, why the exchange was aborted and what `take` throws; then the rest is not read, and what was taken
 * is not to be kept.
 */
export async function readUpload(
  exchange: HttpExchange,
  limits: UploadLimits,
  take: TakePiece,
): Promise<string> {
  const { request, signal } = exchange;
  const maxBytes = limits.maxBytes + FRAME_BYTES;
  if (request.framing.length > maxBytes) throw limits.tooLarge();
  const form = openForm(request);
  const body = bodyStream(request);
  exchange.sendContinue();
  const stop = new AbortController();
  const stopped = new Promise<never>((_, reject) => {
    stop.signal.addEventListener('abort', () => reject(stop.signal.reason));
  });
  const timer = setTimeout(() => stop.abort(tooSlow()), limits.deadlineMs);
  let length = 0;
  const onData = (chunk: Buffer): void => {
    length += chunk.length;
    if (length > maxBytes) stop.abort(limits.tooLarge());
  };
  const onAbort = (): void => stop.abort(signal.reason);
  body.on('data', onData);
  signal.addEventListener('abort', onAbort);
  if (signal.aborted) onAbort();
  try {
    return await Promise.race([oneFileOf(form, body, take), stopped]);
  } finally {
    clearTimeout(timer);
    body.off('data', onData);
    signal.removeEventListener('abort', onAbort);
    body.unpipe(form).pause();
    request.stopReading();
  }
}

/** Resolves with the name of the file when the form is whole and its file is taken. */
async function oneFileOf(form: Form, body: Readable, take: TakePiece): Promise<string> {
  const files: Promise<string>[] = [];
  await new Promise<void>((resolve, reject) => {
    form.on('file', (name: string | undefined, content, filename, encoding) => {
      // Before the part is read: a form that is cut off is not the reader's failure.
      content.on('error', (error) => reject(badForm(error)));
      if (name !== PART) reject(unknownPart(name));
      else if (files.length > 0) reject(badPart('must be given once: one upload is one file'));
      else if (!PLAIN_ENCODINGS.has(encoding))
        reject(badPart('must come as it is: its Content-Transfer-Encoding is not read'));
      else files.push(takeAll(content, take).then(() => filename ?? ''));
      files[0]?.catch(reject);
    });
    form.on('field', (name: string | undefined, value: string) => {
      const problem = problemOfField(name, value);
      if (problem !== undefined) reject(problem);
    });
    form.on('error', (error) => reject(badForm(error)));
    form.on('finish', resolve);
    body.pipe(form);
  });
  const [file] = files;
  if (file === undefined) throw badPart('is required: send a form with a part of this name');
  return file;
}

/** Clients of one vendor must name a purpose. Only the purpose that all files here have is accepted. */
function problemOfField(name: string | undefined, value: string): GatewayError | undefined {
  if (name === PART) return badPart('must be a file: a part with a filename');
  if (name !== 'purpose') return unknownPart(name);
  if (FILE_PURPOSES.includes(value)) return undefined;
  const message = `must be ${FILE_PURPOSES.join(' or ')}: files here are for naming in requests`;
  return invalidRequest([{ path: 'purpose', message }]);
}

/** The body as a stream, which is all that the form parser reads. A body that is cut off does not end. */
function bodyStream(request: InboundRequest): Readable {
  let isRead = false;
  const stream: Readable = new Readable({
    read() {
      if (isRead) {
        request.resumeReading();
        return;
      }
      isRead = true;
      request.read({
        piece: (bytes) => stream.push(bytes),
        end: () => stream.push(null),
        cut: () => {},
      });
    },
  });
  return stream;
}

async function takeAll(content: Readable, take: TakePiece): Promise<void> {
  for await (const piece of content) await take(piece as Buffer);
}

function openForm(request: InboundRequest): Form {
  try {
    return new Busboy({
      headers: { 'content-type': request.header('content-type') ?? '' },
      limits: { parts: 16, fieldSize: 1024 },
    });
  } catch (error) {
    throw badForm(error);
  }
}

function unknownPart(name: string | undefined): GatewayError {
  return new GatewayError(
    'invalid-request',
    `${quoted(name ?? '')}: is no part of an upload; send only "${PART}"`,
  );
}

function badPart(message: string): GatewayError {
  return invalidRequest([{ path: PART, message }]);
}

function badForm(cause: unknown): GatewayError {
  return new GatewayError('invalid-request', 'The request body is not a whole multipart/form-data form', {
    cause,
  });
}

function tooSlow(): GatewayError {
  return new GatewayError('deadline', 'The upload did not arrive in time');
}
