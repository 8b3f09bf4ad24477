import { afterEach, describe, expect, it } from 'vitest';
import {
  ask,
  openSocket,
  PLAIN_KEY,
  RESPONSES_BODY,
  rawBody,
  rawExchange,
  startServer,
  stopServers,
  until,
} from '../../kit/http-harness.ts';

afterEach(stopServers);

const SMUGGLED = 'GET /api/v1/key HTTP/1.1\r\nHost: a\r\n\r\n';

const MALFORMED: readonly (readonly [string, string])[] = [
  ['a request line that is none', 'GARBAGE\r\n\r\n'],
  ['an unknown version', 'GET / HTTP/3.7\r\nHost: a\r\n\r\n'],
  ['bytes of another protocol', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
  [
    'Content-Length and Transfer-Encoding',
    `POST /api/v1/responses HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${SMUGGLED}`,
  ],
  [
    'Transfer-Encoding and Content-Length',
    `POST /api/v1/responses HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n${SMUGGLED}`,
  ],
  [
    'two Content-Lengths',
    `POST /api/v1/responses HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nContent-Length: 44\r\n\r\n${SMUGGLED}`,
  ],
  [
    'a transfer coding besides chunked',
    `POST /api/v1/responses HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n${SMUGGLED}`,
  ],
  [
    'chunked twice',
    `POST /api/v1/responses HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n${SMUGGLED}`,
  ],
  [
    'Transfer-Encoding in HTTP/1.0',
    `POST /api/v1/responses HTTP/1.0\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${SMUGGLED}`,
  ],
  ['HTTP/2.0', `GET /api/v1/key HTTP/2.0\r\nHost: a\r\n\r\n${SMUGGLED}`],
  ['HTTP/0.9', `GET /api/v1/key HTTP/0.9\r\nHost: a\r\n\r\n${SMUGGLED}`],
  ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ['a folded header', `GET /healthz HTTP/1.1\r\nHost: a\r\nX-A: b\r\n c\r\n\r\n`],
  ['bare line feeds', 'GET /healthz HTTP/1.1\nHost: a\n\n'],
  ['one bare line feed', 'GET /healthz HTTP/1.1\r\nHost: a\r\nX-A: b\nX-B: c\r\n\r\n'],
  ['a space before the colon', 'GET /healthz HTTP/1.1\r\nHost : a\r\n\r\n'],
  ['a control character in a header', 'GET /healthz HTTP/1.1\r\nHost: a\r\nX-A: b\x01c\r\n\r\n'],
  [
    'a chunk size that is none',
    `POST /healthz HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n\r\n`,
  ],
];

describe('malformed requests', () => {
  it.each(MALFORMED)('refuses %s, closes, and handles nothing behind it', async (_, bytes) => {
    const { port, log } = await startServer();
    const { text, closed } = await rawExchange(port, bytes);
    expect(closed).toBe(true);
    expect(text.match(/HTTP\/1\.1 /g)).toHaveLength(1);
    expect(text).toMatch(/^HTTP\/1\.1 (400|405) /);
    expect(text).toMatch(/\r\nConnection: close\r\n/i);
    expect(text).toMatch(/\r\nrequest-id: req-\d+-\w{20}\r\n/);
    const { error } = rawBody(text);
    expect(error.code).toBe(Number(text.slice(9, 12)));
    expect(log.some(({ fields }) => fields?.operation === 'getCurrentKey')).toBe(false);
  });

  it('answers 431 to a head that is too large', async () => {
    const { port } = await startServer();
    const { text } = await rawExchange(
      port,
      `GET /healthz HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${'a'.repeat(100_000)}\r\n\r\n`,
    );
    expect(text).toMatch(/^HTTP\/1\.1 431 /);
    expect(rawBody(text).error.code).toBe(431);
  });

  it('requires exactly one Host', async () => {
    const { port } = await startServer();
    for (const hosts of ['', 'Host: a\r\nHost: b\r\n']) {
      const { text } = await rawExchange(port, `GET /healthz HTTP/1.1\r\n${hosts}Connection: close\r\n\r\n`);
      expect(text).toMatch(/^HTTP\/1\.1 400 /);
      expect(rawBody(text).error.message).toBe('Host: must be given exactly once');
    }
    for (const host of ['a b', 'a/b', 'a:b', '[::1', 'a@b', '"a"', 'a:80:81']) {
      for (const path of ['/healthz', '/nothing']) {
        const { text } = await rawExchange(port, `GET ${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
        expect(text).toMatch(/^HTTP\/1\.1 400 /);
        expect(rawBody(text).error.message).toBe('Host: must be a host name, with or without a port');
      }
    }
    for (const host of ['', 'a', 'a:80', 'a_b.c-d', '[::1]:80', '127.0.0.1', 'x%20y']) {
      const { text } = await rawExchange(
        port,
        `GET /healthz HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`,
      );
      expect(text).toMatch(/^HTTP\/1\.1 200 /);
    }
    const old = await rawExchange(port, 'GET /healthz HTTP/1.0\r\n\r\n');
    expect(old.text).toMatch(/^HTTP\/1\.1 200 /);
  });

  it('refuses CONNECT', async () => {
    const { port } = await startServer();
    const { text, closed } = await rawExchange(port, 'CONNECT a:80 HTTP/1.1\r\nHost: a\r\n\r\n');
    expect(text).toMatch(/^HTTP\/1\.1 405 /);
    expect(rawBody(text).error.code).toBe(405);
    expect(closed).toBe(true);
  });

  it('writes no error into a reply that is underway', async () => {
    const never = new Promise<never>(() => {});
    const { port } = await startServer({
      gateway: { stream: () => never },
      times: { holdHeadersMs: 20, abortGraceMs: 20 },
    });
    const { socket, read } = await openSocket(port);
    const body = JSON.stringify({ ...RESPONSES_BODY, stream: true });
    socket.write(
      `POST /api/v1/responses HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${PLAIN_KEY}\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    await until(() => read().includes('PROCESSING'), 'the stream opens');
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.write('GARBAGE\r\n\r\n');
    await closed;
    expect(read()).not.toContain(' 400 ');
  });
});

describe('paths and methods', () => {
  it('answers 404 with the envelope', async () => {
    const { port } = await startServer();
    for (const path of ['/api/v1', '/api/v1/nothing', '/api/v2/keys', '/%zz', '/api/v1/keys/x/y']) {
      const { status, json, headers } = await ask(port, { path });
      expect([path, status]).toEqual([path, 404]);
      expect(json.error).toEqual({
        code: 404,
        message: expect.stringMatching(/^Resource not found/),
        metadata: { error_type: 'not_found' },
      });
      expect(headers['request-id']).toMatch(/^req-/);
    }
  });

  it('takes a request line with a whole address', async () => {
    const { port } = await startServer();
    const line = 'GET http://a/api/v1/models?limit=1 HTTP/1.1';
    const { text } = await rawExchange(port, `${line}\r\nHost: a\r\nConnection: close\r\n\r\n`);
    expect(text).toMatch(/^HTTP\/1\.1 200 /);
    expect(text).toContain('"total_count":2');
  });

  it('answers 405 and says what is allowed', async () => {
    const { port } = await startServer();
    const get = await ask(port, { path: '/api/v1/responses' });
    expect(get.status).toBe(405);
    expect(get.headers.allow).toBe('POST');
    const put = await ask(port, { path: '/api/v1/models', method: 'PUT' });
    expect(put.status).toBe(405);
    expect(put.headers.allow).toBe('GET, HEAD');
    expect(put.json.error.code).toBe(405);
  });

  it('keeps to the messages format below /messages', async () => {
    const { port } = await startServer();
    const method = await ask(port, { path: '/v1/messages' });
    expect(method.status).toBe(405);
    expect(method.json).toMatchObject({ type: 'error', error: { type: 'invalid_request_error', code: 405 } });
    const unknown = await ask(port, { path: '/v1/messages/batches', body: {} });
    expect(unknown.status).toBe(404);
    expect(unknown.json).toMatchObject({ type: 'error', error: { type: 'not_found_error', code: 404 } });
  });

  it('answers under the base path, under /v1, with a trailing slash, and to HEAD', async () => {
    const { port } = await startServer({ settings: { basePath: '/gateway' } });
    for (const path of ['/gateway/models', '/v1/models', '/v1/models/', '/gateway/models/?limit=1']) {
      expect([path, (await ask(port, { path })).status]).toEqual([path, 200]);
    }
    expect((await ask(port, { path: '/api/v1/models' })).status).toBe(404);
    const head = await ask(port, { path: '/v1/models', method: 'HEAD' });
    expect(head.status).toBe(200);
    expect(head.text).toBe('');
    expect(Number(head.headers['content-length'])).toBeGreaterThan(0);
  });

  it('sends the default headers of an API', async () => {
    const { port } = await startServer();
    const { headers } = await ask(port, { path: '/api/v1/providers' });
    expect(headers['x-content-type-options']).toBe('nosniff');
    expect(headers['cache-control']).toBe('no-store');
    expect(headers['content-type']).toBe('application/json; charset=utf-8');
    expect(headers['x-request-id']).toBe(headers['request-id']);
  });
});

describe('a connection that sends and never reads', () => {
  it('is not read on until it takes its answers, at most sixteen', async () => {
    const { port, log } = await startServer();
    const { socket } = await openSocket(port);
    socket.pause();
    socket.write('GET /api/v1/openapi.json HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(5000));
    const answered = () => log.filter(({ message }) => message === 'request').length;
    await until(() => answered() >= 16, 'the first answers');
    // Until it is not read on.
    for (let before = -1; answered() !== before; ) {
      before = answered();
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    // What the system takes for a reader that does not read is some megabytes.
    expect(answered()).toBeLessThan(200);
    socket.destroy();
    expect((await ask(port, { path: '/healthz' })).status).toBe(200);
  });
});
