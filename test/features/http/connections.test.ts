import { connect } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import type { Gateway } from '../../../src/gateway/gateway.ts';
import type { GenerationInput } from '../../../src/gateway/request/generation-input.ts';
import {
  closeEvents,
  contextOf,
  delta,
  fakeGateway,
  openEvents,
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

const HEALTH = 'GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n';
const CLOSING = 'GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n';
const AUTHORIZED = `POST /api/v1/responses HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${PLAIN_KEY}\r\nContent-Type: application/json\r\n`;

const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

function posted(input: string, more = ''): string {
  const text = JSON.stringify({ ...RESPONSES_BODY, input });
  return `${AUTHORIZED}${more}Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`;
}

function chunked(text: string, size: number): string {
  const chunks = text.match(new RegExp(`[\\s\\S]{1,${size}}`, 'g')) ?? [];
  const framed = chunks.map((chunk) => `${chunk.length.toString(16)};x="y"\r\n${chunk}\r\n`);
  return `${AUTHORIZED}Transfer-Encoding: chunked\r\n\r\n${framed.join('')}0\r\nX-Trailer: z\r\n\r\n`;
}

/** A gateway that answers each input on command, with the input. */
function byHand() {
  const waiting = new Map<string, () => void>();
  const aborted: string[] = [];
  const complete: Gateway['complete'] = async (input: GenerationInput) => {
    const name = String(input.body.input);
    input.signal.addEventListener('abort', () => aborted.push(name));
    await new Promise<void>((resolve) => waiting.set(name, resolve));
    const answer = await fakeGateway().complete(input);
    const [item] = answer.result.items;
    const items = [{ ...item, content: [{ type: 'text', text: `answer to ${name}` }] }];
    return { ...answer, result: { ...answer.result, items } } as Awaited<ReturnType<Gateway['complete']>>;
  };
  return { waiting, aborted, gateway: { complete } };
}

const statusesOf = (text: string) => [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => status);

describe('a connection', () => {
  it('reads a request for any cut of its bytes', async () => {
    const { port } = await startServer();
    const { socket, read } = await openSocket(port);
    const bytes = chunked(JSON.stringify(RESPONSES_BODY), 7);
    let answered = 0;
    for (let at = 1; at < bytes.length; at += 3) {
      socket.write(bytes.slice(0, at));
      await pause(1);
      socket.write(bytes.slice(at));
      answered++;
      await until(() => statusesOf(read()).length === answered, `the answer after a cut at ${at}`);
    }
    expect(new Set(statusesOf(read()))).toEqual(new Set(['200']));
    socket.destroy();
  });

  it('is read on after a body that came faster than it was read', async () => {
    const { port } = await startServer();
    const { socket, read } = await openSocket(port);
    const input = 'x'.repeat(90_000);
    for (let round = 1; round <= 3; round++) {
      // The first read fills the buffer of an unread body; the second, in the same turn, brings the rest.
      socket.write(chunked(JSON.stringify({ ...RESPONSES_BODY, input }), 8_192));
      await until(() => statusesOf(read()).length === round, `answer ${round}`);
    }
    expect(statusesOf(read())).toEqual(['200', '200', '200']);
    socket.destroy();
  });

  it('notices a caller that leaves after such a body, and calls it no failure of its own', async () => {
    const { waiting, aborted, gateway } = byHand();
    const { port, server } = await startServer({ gateway });
    const { socket } = await openSocket(port);
    const input = 'x'.repeat(90_000);
    socket.write(chunked(JSON.stringify({ ...RESPONSES_BODY, input }), 8_192));
    await until(() => waiting.size === 1, 'at work');
    socket.destroy();
    await until(() => aborted.length === 1, 'the caller to be missed');
    waiting.get(input)?.();
    await until(() => server.inFlight.requests() === 0, 'the end');
    await pause(10);
    const family = server.metrics.families.find(({ name }) => name === 'signalbox_http_errors_total');
    expect(
      [...(family?.samples() ?? [])].map(({ value }) => Number(value)).filter((value) => value > 0),
    ).toEqual([]);
  });

  it('takes some line breaks between requests, but not for ever', async () => {
    const { port } = await startServer({ times: { lingerMs: 20 } });
    const { socket, read } = await openSocket(port);
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.write(`\r\n\r\n${HEALTH}\r\n\r\n${HEALTH}`);
    await until(() => statusesOf(read()).length === 2, 'two answers');
    for (let count = 0; count < 20; count++) {
      socket.write('\r\n');
      await pause(1);
    }
    await closed;
    expect(statusesOf(read()).slice(0, 2)).toEqual(['200', '200']);
    expect(statusesOf(read()).slice(2)).toEqual(['400']);
  });

  it('takes bytes one by one, and line breaks before a request', async () => {
    const { port } = await startServer();
    const { socket, read } = await openSocket(port);
    socket.setNoDelay(true);
    for (const byte of `\r\n\r\n${posted('hi')}`) {
      socket.write(byte);
      await new Promise((resolve) => setImmediate(resolve));
    }
    await until(() => read().includes('hello'), 'the answer');
    socket.write(`\r\n${HEALTH}`);
    await until(() => read().includes('"ok"'), 'the second answer');
    socket.destroy();
  });

  it('answers in the order of the requests, whichever is done first', async () => {
    const { waiting, gateway } = byHand();
    const { port } = await startServer({ gateway });
    const { socket, read } = await openSocket(port);
    socket.write(posted('one') + HEALTH + posted('two') + posted('three'));
    await until(() => waiting.size === 3, 'all at work');
    waiting.get('three')?.();
    waiting.get('two')?.();
    await pause(50);
    expect(read()).toBe('');
    waiting.get('one')?.();
    await until(() => statusesOf(read()).length === 4, 'all answers');
    const places = ['answer to one', '"status":"ok"', 'answer to two', 'answer to three'].map((part) =>
      read().indexOf(part),
    );
    expect(places).toEqual([...places].sort((one, other) => one - other));
    expect(places[0]).toBeGreaterThan(0);
    socket.destroy();
  });

  it('begins sixteen requests at a time, and answers all that follow in their order', async () => {
    const { waiting, aborted, gateway } = byHand();
    const { port } = await startServer({ gateway });
    const names = Array.from({ length: 40 }, (_, index) => `n${index}.`);
    const { socket, read } = await openSocket(port);
    socket.write(names.map((name) => posted(name)).join('') + HEALTH);
    await until(() => waiting.size === 16, 'sixteen at work');
    await pause(30);
    expect([...waiting.keys()]).toEqual(names.slice(0, 16));
    for (const name of names) {
      await until(() => waiting.has(name), `${name} at work`);
      waiting.get(name)?.();
    }
    await until(() => statusesOf(read()).length === 41, 'all answers');
    const answered = [...read().matchAll(/answer to (n\d+\.)/g)].map(([, name]) => name);
    expect([answered, aborted]).toEqual([names, []]);
    expect(read()).toMatch(/answer to n39\.[\s\S]*"status":"ok"/);
    socket.destroy();
  });

  it('is not read while enough answers are pending, and no time limit runs meanwhile', async () => {
    const { waiting, gateway } = byHand();
    // A busy machine takes a while to read a long request: the limits are longer than that, and the pause than they.
    const limitMs = 1_500;
    const times = { headersMs: limitMs, bodyMs: limitMs, idleMs: limitMs, checkMs: 15 };
    const { port } = await startServer({ gateway, times });
    const { socket, read } = await openSocket(port);
    const names = Array.from({ length: 16 }, (_, index) => `n${index}`);
    // More than the system keeps for a reader that does not read.
    const rest = posted('x'.repeat(900_000));
    socket.write(names.map((name) => posted(name)).join(''));
    await until(() => waiting.size === 16, 'sixteen at work');
    for (let count = 0; count < 30; count++) socket.write(rest);
    await pause(limitMs + 300);
    expect(socket.writableLength).toBeGreaterThan(10_000_000);
    expect([waiting.size, socket.destroyed]).toEqual([16, false]);
    for (const name of names) waiting.get(name)?.();
    await until(() => statusesOf(read()).length >= 16, 'the first answers');
    await until(() => waiting.size > 16, 'the next at work');
    socket.destroy();
  });

  it('answers a thousand requests of one read, a few in each turn of the loop', async () => {
    const { port } = await startServer();
    const { socket, read } = await openSocket(port);
    socket.write('GET /nothing HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(1_000));
    await until(() => statusesOf(read()).length === 1_000, 'all answers');
    socket.write(CLOSING);
    await until(() => statusesOf(read()).length === 1_001, 'the answer after them');
  });

  it('notices a caller that leaves while it is not read, at the latest with the next answers', async () => {
    const { waiting, aborted, gateway } = byHand();
    const { port } = await startServer({ gateway });
    const { socket } = await openSocket(port);
    socket.write(Array.from({ length: 20 }, (_, index) => posted(`n${index}`)).join(''));
    await until(() => waiting.size === 16, 'sixteen at work');
    socket.resetAndDestroy();
    await pause(20);
    waiting.get('n0')?.();
    await until(() => aborted.includes('n15'), 'the others to be aborted');
  });

  it('reads nothing after a request that closes it', async () => {
    const { waiting, gateway } = byHand();
    const { port } = await startServer({ gateway });
    const { socket, read } = await openSocket(port);
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.write(posted('one', 'Connection: close\r\n'));
    await until(() => waiting.size === 1, 'at work');
    socket.write(HEALTH + HEALTH);
    await pause(20);
    waiting.get('one')?.();
    await closed;
    expect(statusesOf(read())).toEqual(['200']);
    expect(read()).toMatch(/\r\nConnection: close\r\n/);
  });

  it('refuses a request that closes it together with what follows', async () => {
    const { port } = await startServer();
    const { text, closed } = await rawExchange(port, `${CLOSING}\r\n${HEALTH}`);
    expect([closed, statusesOf(text)]).toEqual([true, ['400']]);
    expect(statusesOf((await rawExchange(port, `${CLOSING}\r\n`)).text)).toEqual(['200']);
  });

  it('is kept open by its HTTP version, and announces for how long', async () => {
    const { port } = await startServer();
    const { text } = await rawExchange(port, HEALTH + CLOSING);
    expect(statusesOf(text)).toEqual(['200', '200']);
    expect(text).toMatch(/\r\nConnection: keep-alive\r\nKeep-Alive: timeout=65\r\n/);
    expect(text).toMatch(/\r\nDate: \w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT\r\n/);
    const old = await rawExchange(port, 'GET /healthz HTTP/1.0\r\n\r\n');
    expect(old.closed).toBe(true);
    expect(old.text).toMatch(/^HTTP\/1\.1 200 OK\r\n[\s\S]*\r\nConnection: close\r\n/);
    const kept = 'GET /healthz HTTP/1.0\r\nConnection: keep-alive\r\n\r\n';
    const twice = await rawExchange(port, `${kept}GET /healthz HTTP/1.0\r\n\r\n`);
    expect(statusesOf(twice.text)).toEqual(['200', '200']);
    expect(twice.text).toMatch(/\r\nConnection: keep-alive\r\n/);
  });

  it('ends with a stream for HTTP/1.0, which has no chunks', async () => {
    const { port } = await startServer();
    const body = JSON.stringify({ ...RESPONSES_BODY, stream: true });
    const head = AUTHORIZED.replace('HTTP/1.1', 'HTTP/1.0');
    const { text, closed } = await rawExchange(
      port,
      `${head}Connection: keep-alive\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    expect(closed).toBe(true);
    expect(text).toMatch(/\r\nConnection: close\r\n/);
    expect(text).not.toMatch(/transfer-encoding/i);
    expect(text).toMatch(/\r\n\r\nevent: response\.created\n[\s\S]*data: \[DONE\]\n\n$/);
  });

  it('is used on after a HEAD, which has no body', async () => {
    const { port } = await startServer();
    const { text } = await rawExchange(port, `HEAD /healthz HTTP/1.1\r\nHost: a\r\n\r\n${CLOSING}`);
    expect(text).toMatch(/\r\nContent-Length: 15\r\n[\s\S]*?\r\n\r\nHTTP\/1\.1 200 OK\r\n/);
    expect(text.match(/"ok"/g)).toHaveLength(1);
  });

  it('ignores an upgrade to another protocol', async () => {
    const { port } = await startServer();
    const wish = 'GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n';
    expect(statusesOf((await rawExchange(port, wish + CLOSING)).text)).toEqual(['200', '200']);
  });

  it('skips a small unwanted body and reads on', async () => {
    const { port } = await startServer();
    const { socket, read } = await openSocket(port);
    socket.write('POST /nothing HTTP/1.1\r\nHost: a\r\nContent-Length: 50000\r\n\r\n');
    await until(() => statusesOf(read()).length === 1, 'the refusal');
    socket.write('x'.repeat(50_000) + HEALTH);
    await until(() => statusesOf(read()).length === 2, 'the next answer');
    expect(statusesOf(read())).toEqual(['404', '200']);
    socket.destroy();
  });

  it.each(['/nothing', '/healthz', '/api/v1/responses'])(
    'takes no request for the body that it did not ask for: POST %s',
    async (path) => {
      const { port } = await startServer({ times: { lingerMs: 50 } });
      const { socket, read } = await openSocket(port);
      const closed = new Promise((resolve) => socket.once('close', resolve));
      const length = `Expect: 100-continue\r\nContent-Length: ${HEALTH.length}\r\n\r\n`;
      socket.write(`POST ${path} HTTP/1.1\r\nHost: a\r\n${length}`);
      await until(() => statusesOf(read()).length === 1, 'the refusal');
      expect(read()).toMatch(/^HTTP\/1\.1 4\d\d [\s\S]*\r\nConnection: close\r\n/);
      socket.write(HEALTH);
      await closed;
      expect(statusesOf(read())).toHaveLength(1);
    },
  );

  it('ignores an unknown Expect header', async () => {
    const { port } = await startServer();
    const { text } = await rawExchange(
      port,
      'GET /healthz HTTP/1.1\r\nHost: a\r\nExpect: the-unexpected\r\nConnection: close\r\n\r\n',
    );
    expect(statusesOf(text)).toEqual(['200']);
  });
});

describe('malformed bytes', () => {
  const GARBAGE = 'NO REQUEST\r\n\r\n';
  const BROKEN = `${AUTHORIZED}Transfer-Encoding: chunked\r\n\r\n`;

  it.each([
    ['a head', GARBAGE],
    ['a body that came with its head', `${BROKEN}no size\r\n`],
  ])('are not answered before an earlier request: %s', async (_, bytes) => {
    const { waiting, aborted, gateway } = byHand();
    const { port } = await startServer({ gateway, times: { lingerMs: 20 } });
    const { socket, read } = await openSocket(port);
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.write(posted('one') + HEALTH + posted('two') + bytes);
    await until(() => waiting.size === 2, 'all at work');
    await pause(50);
    expect(read()).toBe('');
    waiting.get('two')?.();
    waiting.get('one')?.();
    await closed;
    expect(statusesOf(read())).toEqual(['200', '200', '200']);
    expect(read()).toMatch(/answer to one[\s\S]*"ok"[\s\S]*answer to two/);
    expect(aborted).toEqual([]);
  });

  it('do not end a request before them when they are the rest of a body', async () => {
    const { waiting, gateway } = byHand();
    const { port } = await startServer({ gateway });
    const { socket, read } = await openSocket(port);
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.write(`${posted('one')}${BROKEN}5\r\n{"mod`);
    await until(() => waiting.size === 1, 'at work');
    socket.write('no end of a chunk');
    await pause(50);
    waiting.get('one')?.();
    await closed;
    expect(statusesOf(read())).toEqual(['200']);
    expect(read()).toContain('answer to one');
  });

  it('do not keep a caller that then ends its side from its answer', async () => {
    const { waiting, aborted, gateway } = byHand();
    const { port } = await startServer({ gateway });
    const { socket, read } = await openSocket(port);
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.write(posted('one') + GARBAGE);
    await until(() => waiting.size === 1, 'at work');
    socket.end();
    await pause(20);
    waiting.get('one')?.();
    await closed;
    expect(read()).toContain('answer to one');
    expect([statusesOf(read()), aborted]).toEqual([['200'], []]);
  });
});

describe('a caller that ends its side', () => {
  it('in the middle of a request gets an error', async () => {
    const { port } = await startServer();
    for (const part of ['GET /healthz HTTP/1.1\r\nHost', posted('hi').slice(0, -3)]) {
      const { socket, read } = await openSocket(port);
      const closed = new Promise((resolve) => socket.once('close', resolve));
      socket.end(part);
      await closed;
      expect(statusesOf(read())).toEqual(['400']);
      expect(rawBody(read()).error.message).toBe('Malformed HTTP request');
    }
  });

  it('together with its request gets the answer or error of that request', async () => {
    const { port } = await startServer();
    const keyless = posted('hi').replace(/^Authorization:.*\r\n/m, '');
    for (const [request, status] of [
      [keyless, '401'],
      [HEALTH, '200'],
    ] as const) {
      const { socket, read } = await openSocket(port);
      const closed = new Promise((resolve) => socket.once('close', resolve));
      socket.end(request);
      await closed;
      expect(statusesOf(read())).toEqual([status]);
    }
  });

  it.each([0, 20, 450])('gets its whole answer, %i ms later', async (milliseconds) => {
    const { waiting, aborted, gateway } = byHand();
    const { port } = await startServer({ gateway });
    const { socket, read } = await openSocket(port);
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.end(posted('one'));
    await until(() => waiting.size === 1, 'at work');
    await pause(milliseconds);
    waiting.get('one')?.();
    await closed;
    expect(read()).toMatch(/^HTTP\/1\.1 200 OK\r\n[\s\S]*answer to one/);
    expect([statusesOf(read()), aborted]).toEqual([['200'], []]);
  });

  it('gets the answers to all of its requests, and to none that is cut off', async () => {
    const { waiting, aborted, gateway } = byHand();
    const { port } = await startServer({ gateway });
    const { socket, read } = await openSocket(port);
    const closed = new Promise((resolve) => socket.once('close', resolve));
    const names = Array.from({ length: 20 }, (_, index) => `n${index}`);
    socket.end(names.map((name) => posted(name)).join('') + HEALTH.slice(0, -3));
    for (const name of names) {
      await until(() => waiting.has(name), `${name} at work`);
      // Long enough for a byte to be sent ahead of some.
      if (name === 'n3') await pause(130);
      waiting.get(name)?.();
    }
    await closed;
    expect(statusesOf(read()).slice(0, names.length)).toEqual(names.map(() => '200'));
    // The last one gets an error if all others were answered when the end was read.
    expect(['', '400']).toContain(statusesOf(read()).slice(names.length).join());
    expect([...read().matchAll(/answer to (n\d+)/g)].map(([, name]) => name)).toEqual(names);
    expect(aborted).toEqual([]);
  });

  it('gets its whole stream', async () => {
    async function* slowly() {
      yield openEvents('first');
      for (let count = 0; count < 5; count++) {
        await pause(30);
        yield [delta(` ${count}`)];
      }
      yield closeEvents();
    }
    const { port } = await startServer({
      gateway: {
        stream: async (input) => {
          await pause(250);
          return { context: contextOf(input), batches: slowly() };
        },
      },
    });
    const { socket, read } = await openSocket(port);
    const closed = new Promise((resolve) => socket.once('close', resolve));
    const body = JSON.stringify({ ...RESPONSES_BODY, stream: true });
    socket.end(`${AUTHORIZED}Content-Length: ${body.length}\r\n\r\n${body}`);
    await closed;
    expect(read()).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(read()).toContain('data: [DONE]');
  });

  it.each(['destroy', 'resetAndDestroy'] as const)('and reads no more is noticed (%s)', async (leave) => {
    const { waiting, aborted, gateway } = byHand();
    const { port } = await startServer({ gateway });
    const { socket } = await openSocket(port);
    socket.write(posted('one'));
    await until(() => waiting.size === 1, 'at work');
    socket[leave]();
    await until(() => aborted.length === 1, 'aborted');
  });

  it('and reads no more later is noticed as well', async () => {
    const { waiting, aborted, gateway } = byHand();
    const { port } = await startServer({ gateway });
    const { socket } = await openSocket(port);
    socket.end(posted('one'));
    await until(() => waiting.size === 1, 'at work');
    await pause(150);
    socket.destroy();
    await until(() => aborted.length === 1, 'aborted');
  });

  it('may do so without a request', async () => {
    const { port } = await startServer();
    const { socket, read } = await openSocket(port);
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.end();
    await closed;
    expect(read()).toBe('');
  });
});

describe('time limits', () => {
  it('end connections that send nothing', async () => {
    const { port } = await startServer({ times: { headersMs: 80, checkMs: 20, lingerMs: 20 } });
    const { text } = await rawExchange(port, '');
    expect(statusesOf(text)).toEqual(['408']);
  });

  it('end idle connections without an answer', async () => {
    const { port } = await startServer({ times: { idleMs: 80, checkMs: 20 } });
    const { text, closed } = await rawExchange(port, HEALTH);
    expect(closed).toBe(true);
    expect(statusesOf(text)).toEqual(['200']);
  });

  it('do not end connections that wait for an answer', async () => {
    const { waiting, gateway } = byHand();
    const times = { headersMs: 60, idleMs: 60, checkMs: 15 };
    const { port } = await startServer({ gateway, times });
    const { socket, read } = await openSocket(port);
    socket.write(posted('slow'));
    await until(() => waiting.size === 1, 'at work');
    await pause(200);
    waiting.get('slow')?.();
    await until(() => read().includes('answer to slow'), 'the answer');
  });

  it('do not end connections whose request came while the server was blocked', async () => {
    const headersMs = 1_000;
    const { port } = await startServer({ times: { headersMs, checkMs: 20, lingerMs: 20 } });
    const { socket, read } = await openSocket(port);
    await pause(30);
    socket.write(HEALTH);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, headersMs + 100);
    await until(() => statusesOf(read()).length === 1, 'an answer');
    expect(statusesOf(read())).toEqual(['200']);
  });

  it('restart with the next request of a connection', async () => {
    const headersMs = 1_000;
    const { port } = await startServer({ times: { headersMs, checkMs: 20, lingerMs: 20 } });
    const { socket, read } = await openSocket(port);
    // Longer than the limit in all, and each pause so much shorter that a busy machine does not make it as long.
    for (const count of [1, 2, 3, 4]) {
      socket.write(HEALTH);
      await until(() => statusesOf(read()).length === count, 'an answer');
      await pause(headersMs / 3);
    }
    socket.write('GET /healthz HTTP/1.1\r\n');
    await until(() => statusesOf(read()).length === 5, 'the refusal');
    expect(statusesOf(read())).toEqual(['200', '200', '200', '200', '408']);
  });
});

describe('an early answer to a body that is still being sent', () => {
  const JSON_TYPE = 'Content-Type: application/json\r\n';
  const KEY = `Authorization: Bearer ${PLAIN_KEY}\r\n`;

  /** Sends a whole body at the given pace and reads nothing before that, as many clients do. */
  async function sendAll(port: number, head: string, bytes: number): Promise<string> {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    const failed = new Promise<never>((_, reject) => socket.once('error', reject));
    const sending = async () => {
      socket.write(`POST ${head}Content-Length: ${bytes}\r\n\r\n`);
      for (let piece = 0; piece < 8; piece++) {
        await new Promise((resolve) => socket.write(Buffer.alloc(bytes / 8, 'x'), resolve));
        await pause(100);
      }
      let text = '';
      for await (const chunk of socket) text += chunk;
      return text;
    };
    return await Promise.race([sending(), failed]).finally(() => socket.destroy());
  }

  it.each([
    ['401', `/api/v1/responses HTTP/1.1\r\nHost: a\r\n${JSON_TYPE}`],
    ['404', `/nothing HTTP/1.1\r\nHost: a\r\n${KEY}${JSON_TYPE}`],
    ['413', `/api/v1/responses HTTP/1.1\r\nHost: a\r\n${KEY}${JSON_TYPE}`],
    ['415', `/api/v1/responses HTTP/1.1\r\nHost: a\r\n${KEY}Content-Type: text/plain\r\n`],
    ['400', `/api/v1/responses HTTP/1.1\r\nHost: a\r\n${KEY}X : y\r\n`],
  ])('reaches a client that reads only after it has sent all: %s', async (status, head) => {
    const { port, server } = await startServer();
    const answer = sendAll(port, head, 4_000_000);
    expect(statusesOf(await answer)).toEqual([status]);
    expect(server.inFlight.requests()).toBe(0);
  });

  it('ends the connection of a caller that keeps sending', async () => {
    const { port } = await startServer({ times: { lingerMs: 20 } });
    const head = `/nothing HTTP/1.1\r\nHost: a\r\n${KEY}${JSON_TYPE}`;
    await expect(sendAll(port, head, 80_000_000)).rejects.toThrow(/ECONNRESET|EPIPE/);
    const slow = await startServer({ times: { discardMs: 100 } });
    await expect(sendAll(slow.port, head, 800_000)).rejects.toThrow(/ECONNRESET|EPIPE/);
  });
});

it('applies back-pressure to an unread body', async () => {
  const { port } = await startServer({ settings: { maxBodyBytes: 50_000_000 } });
  const { socket, read } = await openSocket(port);
  // The key is unknown, which is found out without the body.
  socket.write('POST /api/v1/responses HTTP/1.1\r\nHost: a\r\nContent-Length: 40000000\r\n\r\n');
  socket.write('x'.repeat(8_000_000));
  await until(() => statusesOf(read()).length === 1, 'the refusal');
  expect(statusesOf(read())).toEqual(['401']);
  expect(read()).toMatch(/\r\nConnection: close\r\n/);
  await until(() => socket.destroyed, 'the end');
});
