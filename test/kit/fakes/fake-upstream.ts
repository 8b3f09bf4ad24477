import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';

/**
 * A real HTTP server on loopback that runs a script, protocol errors included.
 *
 *   const upstream = await openFakeUpstream();
 *   upstream.answer(chatAnswer({ text: 'Hello' }));            // see answers.ts for ready-made ones
 *   upstream.answer([head(200, SSE), write('data: 1\n\n'), stall(50), reset()]);
 *   ... call upstream.url ...
 *   upstream.requests[0].json                                   // what arrived
 *   await upstream.close();
 *
 * Each request takes the next script; the last one stays for all that follow.
 */
export interface FakeUpstream {
  /** `http://127.0.0.1:PORT/v1` */
  readonly url: string;
  readonly port: number;
  /** Every request so far, oldest first. */
  readonly requests: RecordedRequest[];
  /** TCP connections accepted so far. */
  readonly connections: number;
  /** Adds a script for the next request; the last one added stays. */
  answer(script: Script): FakeUpstream;
  /** Forgets all scripts and requests. */
  clear(): void;
  /** Resolves with the n-th request, counted from 0, once it has arrived. */
  request(index: number): Promise<RecordedRequest>;
  /** Resolves with the first request whose body has the text, once it has arrived. */
  requestWith(text: string): Promise<RecordedRequest>;
  close(): Promise<void>;
}

export interface RecordedRequest {
  readonly method: string;
  readonly path: string;
  /** Names and values in turn, as they came. */
  readonly rawHeaders: readonly string[];
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
  /** The parsed body; undefined when it is no JSON. */
  readonly json: any;
  /** Monotonic milliseconds at which the request was complete. */
  readonly arrivedAt: number;
  /** Monotonic milliseconds at which the connection closed; undefined while it is open. */
  readonly closedAt: number | undefined;
  /** Resolves when the connection closed. */
  readonly closed: Promise<void>;
  /** Bytes that the script has given to the socket. */
  readonly writtenBytes: number;
  /** True while a write waits because the reader does not read. */
  readonly isBlocked: boolean;
  /** How often a write had to wait. */
  readonly blockedWrites: number;
}

/** One thing to do, in order. */
export type Step = (turn: Turn) => void | Promise<void>;

export type Script = readonly Step[] | ((request: RecordedRequest) => readonly Step[]);

/** The steps of a script for one request. */
export function stepsOf(script: Script, request: RecordedRequest): readonly Step[] {
  return typeof script === 'function' ? script(request) : script;
}

/** What steps work with. */
export interface Turn {
  readonly response: ServerResponse;
  readonly socket: Socket;
  readonly record: Mutable<RecordedRequest>;
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** Headers of a stream. */
export const SSE = { 'content-type': 'text/event-stream' };
export const JSON_TYPE = { 'content-type': 'application/json' };

/** Status and headers, sent at once. */
export function head(status: number, headers: Record<string, string> = {}): Step {
  return ({ response }) => {
    response.writeHead(status, headers);
    response.flushHeaders();
  };
}

/** How bytes are cut into writes: at these positions, or after every byte. */
export type Split = readonly number[] | 'bytes';

/** Writes body bytes and waits until the socket took them. */
export function write(bytes: string | Uint8Array, split: Split = []): Step {
  return async (turn) => {
    for (const piece of piecesOf(Buffer.from(bytes), split)) {
      if (turn.socket.destroyed) return;
      await writePiece(turn, piece);
      // A turn of the loop, so that the pieces arrive apart.
      if (split === 'bytes') await nextTurn();
      else if (split.length > 0) await sleep(2);
    }
  };
}

async function writePiece({ response, socket, record }: Turn, piece: Uint8Array): Promise<void> {
  record.writtenBytes += piece.length;
  if (response.write(piece)) return;
  record.isBlocked = true;
  record.blockedWrites += 1;
  await new Promise<void>((resolve) => {
    response.once('drain', resolve);
    socket.once('close', () => resolve());
  });
  record.isBlocked = false;
}

function piecesOf(bytes: Buffer, split: Split): Buffer[] {
  const cuts = split === 'bytes' ? Array.from({ length: bytes.length }, (_, index) => index) : [...split];
  const ends = [...cuts.filter((cut) => cut > 0 && cut < bytes.length), bytes.length];
  return ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end));
}

/** Writes the same bytes again and again until the connection closes or `limitBytes` are written. */
export function flood(bytes: string | Uint8Array, limitBytes = Number.POSITIVE_INFINITY): Step {
  const piece = Buffer.from(bytes);
  return async (turn) => {
    for (let written = 0; written < limitBytes && !turn.socket.destroyed; written += piece.length) {
      await writePiece(turn, piece);
      if (written % (1024 * 1024) < piece.length) await sleep(0);
    }
  };
}

/** Does nothing for a while. */
export function stall(milliseconds: number): Step {
  return () => sleep(milliseconds);
}

/** Does nothing until the other side closes. */
export function never(): Step {
  return ({ record }) => record.closed;
}

/** Ends the answer as it should be. */
export function end(): Step {
  return ({ response }) => void response.end();
}

/** RST, a moment after the bytes before it: a reset throws away what the other side has not read yet. */
export function reset(): Step {
  return async ({ socket, record }) => {
    if (record.writtenBytes > 0) await sleep(50);
    socket.resetAndDestroy();
  };
}

/** FIN in the middle of the answer. */
export function truncate(): Step {
  return ({ socket }) => void socket.end();
}

/** Bytes straight to the socket, past HTTP. */
export function raw(bytes: string | Uint8Array): Step {
  return ({ socket }) => void socket.write(bytes);
}

/** A head that comes byte by byte. */
export function slowHead(status: number, headers: Record<string, string>, gapMs: number): Step {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const text = `HTTP/1.1 ${status} Slow\r\n${lines.join('')}connection: close\r\n\r\n`;
  return async ({ socket }) => {
    for (const byte of text) {
      if (socket.destroyed) return;
      socket.write(byte);
      await sleep(gapMs);
    }
  };
}

const COMPRESSORS = {
  gzip: gzipSync,
  br: brotliCompressSync,
  deflate: deflateSync,
  'deflate-raw': deflateRawSync,
} as const;

/** A whole answer, compressed. */
export function compressed(
  coding: keyof typeof COMPRESSORS,
  body: string | Uint8Array,
  headers: Record<string, string> = SSE,
): Script {
  return [
    head(200, { ...headers, 'content-encoding': coding === 'deflate-raw' ? 'deflate' : coding }),
    write(COMPRESSORS[coding](body)),
    end(),
  ];
}

/** A whole answer in one go. */
export function reply(status: number, body: unknown, headers: Record<string, string> = JSON_TYPE): Script {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return [head(status, headers), write(text), end()];
}

/** Opens a fake upstream on a free port. */
export async function openFakeUpstream(): Promise<FakeUpstream> {
  const requests: Mutable<RecordedRequest>[] = [];
  const scripts: Script[] = [];
  const sockets = new Set<Socket>();
  const waiting = new Set<(arrived: RecordedRequest, index: number) => void>();
  let connections = 0;

  const server = createServer({ keepAliveTimeout: 5000 }, (message, response) => {
    void serve(message, response);
  });
  server.on('connection', (socket) => {
    connections += 1;
    sockets.add(socket);
    // A kept connection serves many requests, each of which listens.
    socket.setMaxListeners(0);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
  });

  async function serve(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const record = await recordOf(message);
    if (record === undefined) return;
    requests.push(record);
    for (const look of waiting) look(record, requests.length - 1);
    const script = scripts.length > 1 ? scripts.shift() : scripts[0];
    const steps = script === undefined ? NO_SCRIPT : stepsOf(script, record);
    response.on('error', () => {});
    for (const step of steps) {
      if (message.socket.destroyed) return;
      await step({ response, socket: message.socket, record });
    }
  }

  const requestThat = (isIt: (request: RecordedRequest, index: number) => boolean) => {
    const there = requests.find(isIt);
    if (there !== undefined) return Promise.resolve(there);
    return new Promise<RecordedRequest>((resolve) => {
      const look = (arrived: RecordedRequest, index: number) => {
        if (!isIt(arrived, index)) return;
        waiting.delete(look);
        resolve(arrived);
      };
      waiting.add(look);
    });
  };

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const fake: FakeUpstream = {
    url: `http://127.0.0.1:${port}/v1`,
    port,
    requests,
    get connections() {
      return connections;
    },
    answer(script) {
      scripts.push(script);
      return fake;
    },
    clear() {
      scripts.length = 0;
      requests.length = 0;
    },
    request: (index) => requestThat((_, at) => at === index),
    requestWith: (text) => requestThat(({ body }) => body.includes(text)),
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
  return fake;
}

const NO_SCRIPT: readonly Step[] = [
  head(500, JSON_TYPE),
  write('{"error":{"message":"the fake upstream was given no script"}}'),
  end(),
];

async function recordOf(message: IncomingMessage): Promise<Mutable<RecordedRequest> | undefined> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of message) chunks.push(chunk as Buffer);
  } catch {
    return undefined;
  }
  const body = Buffer.concat(chunks).toString();
  const record: Mutable<RecordedRequest> = {
    method: message.method ?? '',
    path: message.url ?? '',
    rawHeaders: message.rawHeaders,
    headers: message.headers,
    body,
    json: parsed(body),
    arrivedAt: performance.now(),
    closedAt: undefined,
    closed: Promise.resolve(),
    writtenBytes: 0,
    isBlocked: false,
    blockedWrites: 0,
  };
  record.closed = new Promise((resolve) => {
    message.socket.once('close', () => {
      record.closedAt = performance.now();
      resolve();
    });
  });
  return record;
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}
