import { connect } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import type { GenerationInput } from '../../../src/gateway/request/generation-input.ts';
import {
  ask,
  fakeGateway,
  PLAIN_KEY,
  RESPONSES_BODY,
  rawBody,
  startServer,
  stopServers,
  until,
} from '../../kit/http-harness.ts';

afterEach(stopServers);

const PATH = '/api/v1/responses';
const VALID = JSON.stringify(RESPONSES_BODY);

function post(port: number, body: string | Buffer, headers: Record<string, string> = {}) {
  return ask(port, {
    path: PATH,
    body,
    key: PLAIN_KEY,
    headers: { 'Content-Type': 'application/json', ...headers },
  });
}

describe('content types', () => {
  it.each([
    'application/json',
    'Application/JSON; charset=utf-8',
    'application/json;charset="UTF-8"',
    'application/vnd.acme.v2+json',
    'application/json; profile=x',
  ])('takes %s', async (type) => {
    const { port } = await startServer();
    expect((await post(port, VALID, { 'Content-Type': type })).status).toBe(200);
  });

  it.each([
    'application/json\ta',
    'application/json a',
    'application/json; charset=utf-7',
    'application/json; charset=latin1',
    'text/plain',
    'application/jsonx',
    'multipart/form-data; boundary=x',
    '',
  ])('refuses %j', async (type) => {
    const { port } = await startServer();
    const { status, json } = await post(port, '{"input": 5}', { 'Content-Type': type });
    expect(status).toBe(415);
    expect(json.error.code).toBe(415);
  });

  it('refuses a body without a type, and a compressed one', async () => {
    const { port } = await startServer();
    const untyped = await ask(port, { path: PATH, body: VALID, key: PLAIN_KEY });
    expect(untyped.status).toBe(415);
    expect((await post(port, VALID, { 'Content-Encoding': 'gzip' })).status).toBe(415);
    expect((await post(port, VALID, { 'Content-Encoding': 'identity' })).status).toBe(200);
  });
});

describe('the content of a body', () => {
  it.each([
    ['nothing', '', 'is empty'],
    ['no JSON', '{"model": ', 'not valid JSON'],
    ['an array', '[]', 'must be a JSON object'],
    ['a string', '"hello"', 'must be a JSON object'],
    ['null', 'null', 'must be a JSON object'],
    ['deep nesting', `{"input": ${'['.repeat(100_000)}`, 'nested deeper than 64'],
  ])('refuses %s', async (_, body, message) => {
    const { port } = await startServer();
    const { status, json } = await post(port, body);
    expect(status).toBe(400);
    expect(json.error.message).toContain(message);
  });

  it('refuses bytes that are not UTF-8', async () => {
    const { port } = await startServer();
    const { status, json } = await post(port, Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d]));
    expect(status).toBe(400);
    expect(json.error.message).toContain('UTF-8');
  });

  it('takes a byte order mark', async () => {
    const { port } = await startServer();
    expect((await post(port, `\ufeff${VALID}`)).status).toBe(200);
  });

  it('names every wrong field, the first in the message', async () => {
    const { port } = await startServer();
    const { status, json } = await post(port, '{"model": 5, "input": "hi", "temperature": "hot"}');
    expect(status).toBe(400);
    const paths = json.error.metadata.issues.map(({ path }: { path: string }) => path);
    expect(paths).toEqual(expect.arrayContaining(['model', 'temperature']));
    expect(json.error.message.startsWith(`${paths[0]}: `)).toBe(true);
  });

  it('keeps __proto__ and constructor plain keys', async () => {
    let seen: GenerationInput | undefined;
    const { port } = await startServer({
      gateway: {
        complete: async (input) => {
          seen = input;
          return fakeGateway().complete(input);
        },
      },
    });
    const body =
      '{"model":"acme/large","input":"hi","metadata":{"__proto__":"x","constructor":"y"},' +
      '"trace":{"__proto__":{"isManagement":true}}}';
    expect((await post(port, body)).status).toBe(200);
    expect(Object.keys(seen?.body.metadata as object)).toEqual(['__proto__', 'constructor']);
    expect(({} as Record<string, unknown>).isManagement).toBeUndefined();
    const query = await ask(port, { path: '/api/v1/models?__proto__[limit]=1&limit[__proto__]=1' });
    expect(query.status).toBe(400);
  });

  it('ignores a query that is not declared', async () => {
    const { port } = await startServer();
    const { status } = await ask(port, {
      path: `${PATH}?beta=true`,
      body: VALID,
      key: PLAIN_KEY,
      headers: { 'Content-Type': 'application/json' },
    });
    expect(status).toBe(200);
  });
});

describe('the cap on bodies', () => {
  const small = { settings: { maxBodyBytes: 1_000 } };

  it('takes a body of exactly the limit', async () => {
    const { port } = await startServer(small);
    const padded = VALID.padEnd(1_000, ' ');
    expect((await post(port, padded)).status).toBe(200);
    expect((await post(port, `${padded} `)).status).toBe(413);
  });

  it('refuses by Content-Length alone, closes and reads nothing more', async () => {
    const { port } = await startServer(small);
    const { text, sent } = await pourInto(port, 'Content-Length: 100000000\r\n', 'x'.repeat(65_536));
    expect(text).toMatch(/^HTTP\/1\.1 413 /);
    expect(text).toMatch(/\r\nConnection: close\r\n/i);
    expect(rawBody(text).error).toMatchObject({ code: 413, metadata: { error_type: 'payload_too_large' } });
    expect(sent).toBeLessThan(20_000_000);
  });

  it('refuses a chunked body when it has grown too large', async () => {
    const { port } = await startServer(small);
    const chunk = `10000\r\n${'x'.repeat(65_536)}\r\n`;
    const { text, sent } = await pourInto(port, 'Transfer-Encoding: chunked\r\n', chunk);
    expect(text).toMatch(/^HTTP\/1\.1 413 /);
    expect(text).toMatch(/\r\nConnection: close\r\n/i);
    expect(sent).toBeLessThan(20_000_000);
  });

  it('lets an ordinary client read the refusal while it is still sending', async () => {
    const { port } = await startServer(small);
    const { status } = await post(port, 'x'.repeat(5_000_000));
    expect(status).toBe(413);
  });
});

it('answers Expect: 100-continue only if the body is wanted', async () => {
  const { port } = await startServer();
  const head = `Host: a\r\nContent-Type: application/json\r\nContent-Length: ${VALID.length}\r\nExpect: 100-continue\r\n`;
  const refused = await invited(port, `POST ${PATH} HTTP/1.1\r\n${head}\r\n`, VALID);
  expect(refused).toMatch(/^HTTP\/1\.1 401 /);
  const taken = await invited(
    port,
    `POST ${PATH} HTTP/1.1\r\nAuthorization: Bearer ${PLAIN_KEY}\r\n${head}\r\n`,
    VALID,
  );
  expect(taken).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 /);
});

/** Sends a head, and the body only after a `100 Continue`. */
function invited(port: number, head: string, body: string): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    const socket = connect(port, '127.0.0.1', () => socket.write(head));
    socket.on('data', (chunk) => {
      text += chunk;
      if (text.endsWith('100 Continue\r\n\r\n')) socket.write(body);
      else setTimeout(() => socket.destroy(), 50);
    });
    socket.on('error', () => {});
    socket.on('close', () => resolve(text));
  });
}

/** Sends the same piece over and over, as fast as the server takes it, until it closes. */
function pourInto(port: number, header: string, piece: string): Promise<{ text: string; sent: number }> {
  return new Promise((resolve) => {
    let text = '';
    let sent = 0;
    const socket = connect(port, '127.0.0.1', () => {
      socket.write(
        `POST ${PATH} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${PLAIN_KEY}\r\n` +
          `Content-Type: application/json\r\n${header}\r\n`,
      );
      pour();
    });
    const pour = (): void => {
      while (socket.writable) {
        sent += piece.length;
        if (!socket.write(piece)) {
          socket.once('drain', pour);
          return;
        }
      }
    };
    socket.on('data', (chunk) => {
      text += chunk;
    });
    socket.on('error', () => {});
    socket.on('close', () => resolve({ text, sent }));
  });
}

describe('memory of large bodies', () => {
  const LARGE = JSON.stringify({ ...RESPONSES_BODY, input: 'x'.repeat(400_000) });

  /** A server with memory for one large body, whose gateway keeps each request until `release`. */
  async function crampedServer() {
    let started = 0;
    let open = (): void => {};
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    const { port } = await startServer({
      settings: { largeBodiesBytes: 1_000 },
      gateway: {
        complete: async (input) => {
          started++;
          await gate;
          return fakeGateway().complete(input);
        },
      },
    });
    return { port, started: () => started, release: () => open() };
  }

  it('a single one always passes; a second one waits for it, and small ones do not', async () => {
    const { port, started, release } = await crampedServer();
    const first = post(port, LARGE);
    await until(() => started() === 1, 'the first body is read');
    const second = post(port, LARGE);
    const small = post(port, VALID);
    await until(() => started() === 2, 'the small body is read');
    // Asked on another connection, so that the second body had its time.
    expect((await ask(port, { path: '/healthz' })).status).toBe(200);
    expect(started()).toBe(2);
    release();
    expect((await Promise.all([first, second, small])).map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(started()).toBe(3);
  });

  it('one of unknown length is refused with Retry-After while there is no memory', async () => {
    const { port, started, release } = await crampedServer();
    const first = post(port, LARGE);
    await until(() => started() === 1, 'the first body is read');
    const refused = await post(port, LARGE, { 'Transfer-Encoding': 'chunked' });
    expect(refused.status).toBe(503);
    expect(refused.headers['retry-after']).toBe('1');
    expect(refused.json.error.message).toContain('the large requests in flight take all the memory');
    release();
    expect((await first).status).toBe(200);
    expect((await post(port, LARGE, { 'Transfer-Encoding': 'chunked' })).status).toBe(200);
  });
});
