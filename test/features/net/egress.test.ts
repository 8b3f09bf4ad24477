import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { parseEgressRules } from '../../../src/kit/net/egress.ts';
import { createEgress, type EgressRequest } from '../../../src/net/egress/egress.ts';
import { openRawServer, type RawAnswer, type RawServer } from '../../kit/fakes/raw-server.ts';
import { FORBIDDEN_HOSTS } from './spellings.ts';

const LIMITS = { totalMs: 10_000, maxBytes: 100_000, maxRedirects: 5 };

const servers: RawServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

async function serve(answer: RawAnswer): Promise<RawServer> {
  const server = await openRawServer(answer);
  servers.push(server);
  return server;
}

/** Fetches from servers of this machine, which are allowed by name or address and port. */
function fetchAllowed(allow: string[], url: string, more: Partial<EgressRequest> = {}) {
  const egress = createEgress({ rules: () => parseEgressRules(allow) });
  return egress.fetch(url, { limits: LIMITS, signal: new AbortController().signal, ...more });
}

const whole = (text: string, head = '') =>
  `HTTP/1.1 200 OK\r\n${head}content-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`;

const redirectTo = (location: string, status = 302) =>
  `HTTP/1.1 ${status} Moved\r\nlocation: ${location}\r\ncontent-length: 0\r\n\r\n`;

describe('fetch', () => {
  it('reads an allowed address, without a body or a credential', async () => {
    const server = await serve((socket) => void socket.write(whole('hello', 'content-type: text/plain\r\n')));
    const url = `http://127.0.0.1:${server.port}/a?b=c#d`;
    const reply = await fetchAllowed([`127.0.0.1:${server.port}`], url);
    expect(reply).toMatchObject({
      status: 200,
      url,
      isCut: false,
      headers: { 'content-type': 'text/plain' },
    });
    expect(reply.bytes.toString()).toBe('hello');
    expect(server.requests[0]?.head).toMatch(/^GET \/a\?b=c HTTP\/1\.1\r\nhost: 127/);
  });

  it.each(FORBIDDEN_HOSTS)('refuses a redirect to %s', async (host) => {
    const location = Buffer.from(`http://${host}/`).toString('latin1');
    const server = await serve((socket) => void socket.write(redirectTo(location), 'latin1'));
    // The page itself is allowed by its name alone: its address is not.
    const lookUpAll = (_: string, __: object, done: (error: null, found: object[]) => void) =>
      done(null, [{ address: '127.0.0.1', family: 4 }]);
    const egress = createEgress({
      rules: () => parseEgressRules([`page.example:${server.port}`]),
      lookUpAll: lookUpAll as never,
    });
    const signal = new AbortController().signal;
    const fetched = egress.fetch(`http://page.example:${server.port}/`, { limits: LIMITS, signal });
    await expect(fetched).rejects.toMatchObject({ name: 'EgressProblem', reason: 'refused' });
    expect(server.sockets).toHaveLength(1);
  });

  it('checks the peer of the socket as well as the look-up', async () => {
    const server = await serve((socket) => void socket.write(whole('secret')));
    let looks = 0;
    // Rules that change between look-up and connection stand for a resolver that cannot be trusted.
    const egress = createEgress({
      rules: () => ({
        get rules() {
          looks++;
          return looks <= 2 ? parseEgressRules(['page.example']).rules : [];
        },
      }),
      lookUpAll: (_host, _options, done) => done(null, [{ address: '127.0.0.1', family: 4 }]),
    });
    const signal = new AbortController().signal;
    const fetched = egress.fetch(`http://page.example:${server.port}/`, { limits: LIMITS, signal });
    await expect(fetched).rejects.toMatchObject({ reason: 'unreachable' });
    expect(server.requests).toHaveLength(0);
  });

  it('follows five redirects and no sixth', async () => {
    const server = await serve((socket, index) => {
      socket.write(index < 6 ? redirectTo(`/hop/${index}`) : whole('there'));
    });
    const allow = [`127.0.0.1:${server.port}`];
    await expect(fetchAllowed(allow, `http://127.0.0.1:${server.port}/`)).rejects.toThrow('too often');
    expect(server.requests).toHaveLength(6);
    const shorter = await serve((socket, index) => {
      socket.write(index < 5 ? redirectTo(`/hop/${index}`) : whole('there'));
    });
    const reply = await fetchAllowed([`127.0.0.1:${shorter.port}`], `http://127.0.0.1:${shorter.port}/`);
    expect(reply).toMatchObject({ status: 200, url: `http://127.0.0.1:${shorter.port}/hop/4` });
  });

  it('asks before every hop, and takes no credential to another origin', async () => {
    const second = await serve((socket) => void socket.write(whole('second')));
    const first = await serve((socket) => void socket.write(redirectTo(`http://127.0.0.1:${second.port}/`)));
    const asked: string[] = [];
    await fetchAllowed(['127.0.0.1'], `http://127.0.0.1:${first.port}/`, {
      headers: { authorization: 'Bearer s', accept: 'text/html' },
      visitProblem: (url) => void asked.push(url.port),
    });
    expect(asked).toEqual([String(first.port), String(second.port)]);
    expect(first.requests[0]?.head).toContain('authorization: Bearer s');
    expect(second.requests[0]?.head).not.toContain('Bearer');
    expect(second.requests[0]?.head).toContain('accept: text/html');
    const refused = fetchAllowed(['127.0.0.1'], `http://127.0.0.1:${first.port}/`, {
      visitProblem: (url) => (url.port === String(second.port) ? 'not there' : undefined),
    });
    await expect(refused).rejects.toThrow('not there');
    expect(second.requests).toHaveLength(1);
  });

  it('repeats a POST on its own origin alone', async () => {
    const other = await serve((socket) => void socket.write(whole('other')));
    const server = await serve((socket, index) => {
      socket.write(
        index === 0 ? redirectTo('/again', 307) : redirectTo(`http://127.0.0.1:${other.port}/`, 308),
      );
    });
    const post = fetchAllowed(['127.0.0.1'], `http://127.0.0.1:${server.port}/`, {
      method: 'POST',
      body: 'x',
    });
    await expect(post).rejects.toThrow('another server');
    expect(server.requests.map(({ body }) => body)).toEqual(['x', 'x']);
    expect(other.requests).toHaveLength(0);
  });

  it('cuts what is too long, and an endless body', async () => {
    const large = await serve((socket) => void socket.write(whole('x'.repeat(10_000_000))));
    const reply = await fetchAllowed(['127.0.0.1'], `http://127.0.0.1:${large.port}/`);
    expect([reply.bytes.length, reply.isCut]).toEqual([LIMITS.maxBytes, true]);
    const endless = await serve((socket) => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      const write = () => {
        while (!socket.destroyed && socket.write('y'.repeat(65_536)));
        socket.once('drain', write);
      };
      write();
    });
    const second = await fetchAllowed(['127.0.0.1'], `http://127.0.0.1:${endless.port}/`);
    expect([second.bytes.length, second.isCut]).toEqual([LIMITS.maxBytes, true]);
  });

  it('reads a compressed body, and stops at a bomb', async () => {
    const send = (bytes: Buffer) =>
      serve((socket) => {
        socket.write(`HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: ${bytes.length}\r\n\r\n`);
        socket.write(bytes);
      });
    const page = await send(gzipSync('a page'));
    const reply = await fetchAllowed(['127.0.0.1'], `http://127.0.0.1:${page.port}/`);
    expect(reply.bytes.toString()).toBe('a page');
    const bomb = await send(gzipSync(Buffer.alloc(50_000_000)));
    const limits = { ...LIMITS, maxBytes: 40_000_000 };
    await expect(fetchAllowed(['127.0.0.1'], `http://127.0.0.1:${bomb.port}/`, { limits })).rejects.toThrow(
      'expands too far',
    );
  });

  it('gives up in time, wherever it waits', async () => {
    const silent = await serve(() => {});
    const stalled = await serve(
      (socket) => void socket.write('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf'),
    );
    const limits = { ...LIMITS, totalMs: 150 };
    for (const { port } of [silent, stalled]) {
      const fetched = fetchAllowed(['127.0.0.1'], `http://127.0.0.1:${port}/`, { limits });
      await expect(fetched).rejects.toMatchObject({ reason: 'timeout' });
    }
  });

  it('ends with its signal', async () => {
    const silent = await serve(() => {});
    const abort = new AbortController();
    const fetched = fetchAllowed(['127.0.0.1'], `http://127.0.0.1:${silent.port}/`, { signal: abort.signal });
    setTimeout(() => abort.abort(new Error('gone')), 20);
    await expect(fetched).rejects.toThrow('gone');
  });

  it('refuses a head without end', async () => {
    const server = await serve((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\n${'x: y\r\n'.repeat(100_000)}\r\n`);
    });
    const fetched = fetchAllowed(['127.0.0.1'], `http://127.0.0.1:${server.port}/`);
    await expect(fetched).rejects.toMatchObject({ reason: 'unreachable' });
  });
});

describe('call', () => {
  it('reaches a private address of the operator and follows no redirect', async () => {
    const server = await serve((socket) => void socket.write(redirectTo('http://127.0.0.1:1/')));
    const egress = createEgress({ rules: () => parseEgressRules([]) });
    const signal = new AbortController().signal;
    const url = `http://127.0.0.1:${server.port}/search`;
    const reply = await egress.call(url, { method: 'POST', body: '{}', limits: LIMITS, signal });
    expect(reply.status).toBe(302);
    expect(server.requests[0]).toMatchObject({ body: '{}' });
  });
});
