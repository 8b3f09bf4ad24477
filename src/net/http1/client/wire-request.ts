import type { Writable } from 'node:stream';
import { TOKEN_CLASS } from '../characters.ts';
import { TransportProblem } from './transport-problem.ts';

export interface RequestParts {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Name and port of the server. */
  readonly host: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
}

export interface WireRequest {
  /** Request line, headers and the empty line, in Latin-1. */
  readonly head: string;
  readonly body: string | Uint8Array;
  readonly bodyBytes: number;
}

const TOKEN = new RegExp(`^[${TOKEN_CLASS}]+$`);
const NOT_FIELD_TEXT = /[^\t\x20-\x7e\x80-\xff]/;

/** Headers that frame the request or control the connection: only this file writes them. */
const RESERVED_HEADERS: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'transfer-encoding',
  'upgrade',
]);

/** Writes a request as HTTP. Throws a TransportProblem if a header cannot be sent. */
export function wireRequest(parts: RequestParts): WireRequest {
  const headStart = headStartOf(parts);
  const { method, body } = parts;
  return method === 'GET' ? { head: `${headStart}\r\n`, body, bodyBytes: 0 } : withBody(headStart, body);
}

/**
 * The head of a request up to `content-length`, which depends on the body. Throws a TransportProblem if a header
 * cannot be sent.
 */
export function headStartOf({ method, host, path, headers }: Omit<RequestParts, 'body'>): string {
  let lines = `${method} ${path} HTTP/1.1\r\nhost: ${host}\r\nconnection: keep-alive\r\n`;
  // Responses are mostly small events that must not wait in a compressor's buffer.
  if (headers['accept-encoding'] === undefined) lines += 'accept-encoding: identity\r\n';
  for (const name in headers) {
    const value = headers[name] ?? '';
    if (!TOKEN.test(name) || RESERVED_HEADERS.has(name.toLowerCase()) || NOT_FIELD_TEXT.test(value)) {
      throw new TransportProblem('connect', 'the request cannot be sent');
    }
    lines += `${name}: ${value}\r\n`;
  }
  return lines;
}

export function withBody(headStart: string, body: string | Uint8Array): WireRequest {
  const bodyBytes = typeof body === 'string' ? Buffer.byteLength(body) : body.length;
  return { head: `${headStart}content-length: ${bodyBytes}\r\n\r\n`, body, bodyBytes };
}

/** Node writes strings up to this size from the stack, without allocating. */
const MAX_STACK_TEXT_BYTES = 16 * 1024;

/** Larger bodies are not copied in order to be written together with their head. */
const MAX_COPIED_BYTES = 64 * 1024;

/** Writes head and body together: a head by itself costs a packet, and a turn of the server's event loop. */
export function writeRequest(socket: Writable, { head, body, bodyBytes }: WireRequest): void {
  const length = head.length + bodyBytes;
  if (typeof body === 'string') {
    const isAscii = body.length === bodyBytes;
    if (isAscii && length <= MAX_STACK_TEXT_BYTES) socket.write(head + body, 'latin1');
    else socket.write(oneBuffer(head, length, (bytes) => bytes.write(body, head.length, 'utf8')));
  } else if (bodyBytes <= MAX_COPIED_BYTES) {
    socket.write(oneBuffer(head, length, (bytes) => bytes.set(body, head.length)));
  } else {
    socket.cork();
    socket.write(head, 'latin1');
    socket.write(body);
    socket.uncork();
  }
}

function oneBuffer(head: string, length: number, addBody: (bytes: Buffer) => void): Buffer {
  const bytes = Buffer.allocUnsafeSlow(length);
  bytes.write(head, 0, 'latin1');
  addBody(bytes);
  return bytes;
}
