import type { Writable } from 'node:stream';
import { TOKEN_CLASS } from '../characters.ts';
import { TransportProblem } from './transport-problem.ts';

/** What a request says. */
export interface RequestParts {
  readonly method: 'GET' | 'POST';
  /** Name and port of the server. */
  readonly host: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
}

/** A request as it goes out. */
export interface WireRequest {
  /** All of it before the body, in Latin-1. */
  readonly head: string;
  readonly body: string | Uint8Array;
  readonly bodyBytes: number;
}

const TOKEN = new RegExp(`^[${TOKEN_CLASS}]+$`);
const NO_FIELD_TEXT = /[^\t\x20-\x7e\x80-\xff]/;

/** Fields that say where a request ends and what becomes of the connection: ours to say. */
const OURS: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'transfer-encoding',
  'upgrade',
]);

/** Makes a request. Throws a TransportProblem where a header cannot be sent. */
export function wireRequest(parts: RequestParts): WireRequest {
  const opening = openingOf(parts);
  const { method, body } = parts;
  return method === 'GET' ? { head: `${opening}\r\n`, body, bodyBytes: 0 } : withBody(opening, body);
}

/**
 * What the head of a request says before it comes to its body. Throws a TransportProblem where a header cannot be
 * sent.
 */
export function openingOf({ method, host, path, headers }: Omit<RequestParts, 'body'>): string {
  let opening = `${method} ${path} HTTP/1.1\r\nhost: ${host}\r\nconnection: keep-alive\r\n`;
  // Answers are mostly small events that must not wait in a compressor's buffer.
  if (headers['accept-encoding'] === undefined) opening += 'accept-encoding: identity\r\n';
  for (const name in headers) {
    const value = headers[name] ?? '';
    if (!TOKEN.test(name) || OURS.has(name.toLowerCase()) || NO_FIELD_TEXT.test(value)) {
      throw new TransportProblem('connect', 'the request cannot be sent');
    }
    opening += `${name}: ${value}\r\n`;
  }
  return opening;
}

/** The request that begins with an opening and has a body. */
export function withBody(opening: string, body: string | Uint8Array): WireRequest {
  const bodyBytes = typeof body === 'string' ? Buffer.byteLength(body) : body.length;
  return { head: `${opening}content-length: ${bodyBytes}\r\n\r\n`, body, bodyBytes };
}

/** Texts up to this size go to the kernel without memory being taken for them. */
const MOST_TEXT_BYTES = 16 * 1024;

/** Larger bytes are not copied in order to be written together with their head. */
const MOST_COPIED_BYTES = 64 * 1024;

/** Writes a request in one go: a head that goes ahead costs a packet, and a turn of the server. */
export function writeRequest(socket: Writable, { head, body, bodyBytes }: WireRequest): void {
  const length = head.length + bodyBytes;
  if (typeof body === 'string') {
    const isAscii = body.length === bodyBytes;
    if (isAscii && length <= MOST_TEXT_BYTES) socket.write(head + body, 'latin1');
    else socket.write(together(head, length, (bytes) => bytes.write(body, head.length, 'utf8')));
  } else if (bodyBytes <= MOST_COPIED_BYTES) {
    socket.write(together(head, length, (bytes) => bytes.set(body, head.length)));
  } else {
    socket.cork();
    socket.write(head, 'latin1');
    socket.write(body);
    socket.uncork();
  }
}

function together(head: string, length: number, addBody: (bytes: Buffer) => void): Buffer {
  const bytes = Buffer.allocUnsafeSlow(length);
  bytes.write(head, 0, 'latin1');
  addBody(bytes);
  return bytes;
}
