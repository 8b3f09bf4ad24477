import { createServer as createTcpServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { createServer as createTlsServer } from 'node:tls';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { NO_EGRESS_RULES, parseEgressRules } from '../../../src/kit/net/egress.ts';
import { createNetworkTransport, TRANSPORT_LIMITS } from '../../../src/net/transport/transport.ts';
import {
  StaleConnection,
  type Transport,
  type TransportCall,
} from '../../../src/net/transport/transport-call.ts';
import {
  compressed,
  end,
  type FakeUpstream,
  flood,
  head,
  never,
  openFakeUpstream,
  raw,
  reply,
  reset,
  SSE,
  slowHead,
  stall,
  truncate,
  write,
} from '../../kit/fakes/fake-upstream.ts';
import { problemOf } from './problem-of.ts';

/** Longer than anything here takes, however busy the machine is. */
const PATIENT = { connect: 60_000, firstByte: 60_000, idle: 60_000, total: 60_000 };

let upstream: FakeUpstream;
let transport: Transport;

beforeEach(async () => {
  upstream = await openFakeUpstream();
  transport = createNetworkTransport();
});

afterEach(async () => {
  await transport.close();
  await upstream.close();
});

function callTo(more: Partial<TransportCall> = {}): TransportCall {
  return {
    url: `${upstream.url}/chat/completions`,
    headers: { 'content-type': 'application/json', authorization: 'Bearer sk-test-secret' },
    body: '{"hello":"wörld"}',
    timeouts: PATIENT,
    signal: new AbortController().signal,
    ...more,
  };
}

async function textOf(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const pieces: Uint8Array[] = [];
  for await (const chunk of chunks) pieces.push(chunk);
  return Buffer.concat(pieces).toString();
}

async function exchange(more: Partial<TransportCall> = {}): Promise<string> {
  const { chunks } = await transport.open(callTo(more));
  return textOf(chunks);
}

describe('a good answer', () => {
  it('arrives whole, with status and lower-case headers, and the request as it was given', async () => {
    upstream.answer(reply(201, 'fine', { 'X-Mixed-Case': 'Yes', 'content-type': 'text/plain' }));
    const { status, headers, chunks } = await transport.open(callTo());
    expect(status).toBe(201);
    expect(headers['x-mixed-case']).toBe('Yes');
    expect(await textOf(chunks)).toBe('fine');
    const [request] = upstream.requests;
    expect(request?.path).toBe('/v1/chat/completions');
    expect(request?.method).toBe('POST');
    expect(request?.body).toBe('{"hello":"wörld"}');
    expect(request?.headers.authorization).toBe('Bearer sk-test-secret');
    expect(request?.headers['accept-encoding']).toBe('identity');
  });

  it('leaves its connection to the next call', async () => {
    upstream.answer(reply(200, 'again'));
    for (let round = 0; round < 5; round++) {
      // A connection is free some time after the end of its answer.
      await vi.waitUntil(async () => {
        const before = upstream.connections;
        expect(await exchange()).toBe('again');
        return upstream.connections === before;
      }, PATIENT.total);
    }
  });

  it('is not followed when it is a redirect', async () => {
    upstream.answer(reply(302, '', { location: 'http://127.0.0.1:1/elsewhere' }));
    expect((await transport.open(callTo())).status).toBe(302);
    expect(upstream.requests).toHaveLength(1);
  });
});

describe('time limits', () => {
  it.each([
    ['never sends a head', [never()]],
    ['sends its head byte by byte', [slowHead(200, SSE, 50)]],
    ['sends a head and then nothing', [head(200, SSE), never()]],
  ])('first byte: an upstream that %s', async (_, script) => {
    upstream.answer(script);
    const before = performance.now();
    const problem = await problemOf(exchange({ timeouts: { ...PATIENT, firstByte: 300 } }));
    const took = performance.now() - before;
    expect(problem.reason).toBe('timeout');
    expect(took).toBeGreaterThan(270);
    expect(took).toBeLessThan(PATIENT.firstByte / 2);
    await (await upstream.request(0)).closed;
  });

  it('idle: silence in the middle, after what came before was handed out', async () => {
    upstream.answer([head(200, SSE), write('data: 1\n\n'), never()]);
    const { chunks } = await transport.open(callTo({ timeouts: { ...PATIENT, idle: 200 } }));
    const seen: string[] = [];
    const problem = await problemOf(
      (async () => {
        for await (const chunk of chunks) seen.push(Buffer.from(chunk).toString());
      })(),
    );
    expect(problem.reason).toBe('timeout');
    expect(seen).toEqual(['data: 1\n\n']);
    await upstream.requests[0]?.closed;
  });

  it('idle does not run while the reader is the slow one', async () => {
    upstream.answer([head(200, SSE), flood('x'.repeat(64 * 1024), 4 * 1024 * 1024), end()]);
    const { chunks } = await transport.open(callTo({ timeouts: { ...PATIENT, idle: 150 } }));
    let bytes = 0;
    for await (const chunk of chunks) {
      if (bytes === 0) await sleep(500);
      bytes += chunk.length;
    }
    expect(bytes).toBe(4 * 1024 * 1024);
  });

  it('connect: also for a call that waits for one of too few connections', async () => {
    const narrow = createNetworkTransport({ ...TRANSPORT_LIMITS, connectionsPerOrigin: 1 });
    upstream.answer([head(200, SSE), never()]);
    const timeouts = { ...PATIENT, connect: 200 };
    await narrow.open(callTo({ timeouts }));
    const problem = await problemOf(narrow.open(callTo({ timeouts })));
    expect(problem.reason).toBe('timeout');
    expect(problem.message).toBe('no connection within the time limit');
    expect(upstream.requests).toHaveLength(1);
    await narrow.close();
  });

  it('total: an answer that drips for ever', async () => {
    upstream.answer([head(200, SSE), ...Array.from({ length: 100 }, () => [write('.'), stall(30)]).flat()]);
    const problem = await problemOf(exchange({ timeouts: { ...PATIENT, idle: 3_000, total: 400 } }));
    expect(problem.reason).toBe('total');
    expect(problem.message).toBe('the answer took too long');
  });
});

describe('broken connections', () => {
  it('refused: the reason, without an address', async () => {
    const port = upstream.port;
    await upstream.close();
    const problem = await problemOf(exchange({ url: `http://127.0.0.1:${port}/v1` }));
    expect(problem.reason).toBe('connect');
    expect(problem.message).toBe('connection refused');
    upstream = await openFakeUpstream();
  });

  it('an unknown host: the reason, without its name', async () => {
    const problem = await problemOf(exchange({ url: 'http://no-such-host.invalid/v1' }));
    expect(problem.reason).toMatch(/connect|timeout/);
    expect(problem.message).not.toContain('no-such-host');
  });

  it('TLS against something that speaks none', async () => {
    const garbage = createTcpServer((socket) => {
      socket.on('error', () => {});
      socket.end('this is no handshake\r\n');
    });
    await new Promise<void>((resolve) => garbage.listen(0, '127.0.0.1', resolve));
    const { port } = garbage.address() as { port: number };
    const problem = await problemOf(exchange({ url: `https://127.0.0.1:${port}/v1` }));
    expect(problem.reason).toBe('connect');
    expect(problem.message).not.toMatch(/127\.0\.0\.1|\d{4,5}/);
    garbage.close();
  });

  it('a server without a trusted certificate', async () => {
    const server = createTlsServer({}, () => {});
    server.on('tlsClientError', () => {});
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as { port: number };
    const problem = await problemOf(exchange({ url: `https://127.0.0.1:${port}/v1` }));
    expect(problem.reason).toBe('connect');
    server.close();
  });

  it.each([
    ['reset before the head', [reset()]],
    ['reset in the body', [head(200, SSE), write('data: 1\n\n'), stall(20), reset()]],
    ['cut off in a chunked body', [head(200, SSE), write('data: 1\n\n'), stall(20), truncate()]],
    [
      'cut off below its announced length',
      [head(200, { 'content-length': '100' }), write('few'), truncate()],
    ],
    ['not HTTP', [raw('garbage garbage\r\n\r\n'), truncate()]],
  ])('%s', async (_, script) => {
    upstream.answer(script);
    expect((await problemOf(exchange())).reason).toBe('reset');
  });

  it('a head that is too large', async () => {
    upstream.answer(reply(200, 'x', { 'x-large': 'y'.repeat(70_000) }));
    expect((await problemOf(exchange())).reason).toBe('too-large');
  });

  it('a body that is too large', async () => {
    const small = createNetworkTransport({ ...TRANSPORT_LIMITS, bodyBytes: 100_000 });
    upstream.answer([head(200, SSE), flood('z'.repeat(10_000)), end()]);
    const { chunks } = await small.open(callTo());
    expect((await problemOf(textOf(chunks))).reason).toBe('too-large');
    await upstream.requests[0]?.closed;
    await small.close();
  });
});

describe('compressed answers', () => {
  const text = 'data: {"text":"größer 🙂"}\n\n'.repeat(50);

  it.each(['gzip', 'br', 'deflate', 'deflate-raw'] as const)('%s', async (coding) => {
    upstream.answer(compressed(coding, text));
    expect(await exchange()).toBe(text);
  });

  it('hands out what is flushed before the end', async () => {
    const half = gzipSync('data: 1\n\n', { finishFlush: 2 });
    upstream.answer([head(200, { ...SSE, 'content-encoding': 'gzip' }), write(half), never()]);
    const { chunks } = await transport.open(callTo());
    const iterator = chunks[Symbol.asyncIterator]();
    const first = await iterator.next();
    expect(Buffer.from(first.value as Uint8Array).toString()).toBe('data: 1\n\n');
    await iterator.return?.();
    await upstream.requests[0]?.closed;
  });

  it.each([
    ['a plain body that claims gzip', 'gzip', 'data: plain\n\n'],
    ['a plain body that claims br', 'br', 'data: plain\n\n'],
    ['an unknown coding', 'zstd', 'data: plain\n\n'],
  ])('%s', async (_, coding, body) => {
    upstream.answer([head(200, { ...SSE, 'content-encoding': coding }), write(body), end()]);
    expect((await problemOf(exchange())).reason).toBe('encoding');
  });

  it('a bomb is stopped early, in bounded memory', async () => {
    const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024));
    upstream.answer([head(200, { ...SSE, 'content-encoding': 'gzip' }), write(bomb), end()]);
    const { chunks } = await transport.open(callTo());
    let bytes = 0;
    const problem = await problemOf(
      (async () => {
        for await (const chunk of chunks) bytes += chunk.length;
      })(),
    );
    expect(problem.reason).toBe('too-large');
    expect(bytes).toBeLessThan(16 * 1024 * 1024);
  });
});

describe('back-pressure', () => {
  it('a reader that does not read blocks the upstream, and nothing is lost', async () => {
    const total = 32 * 1024 * 1024;
    upstream.answer([head(200, SSE), flood('y'.repeat(16 * 1024), total), end()]);
    const { chunks } = await transport.open(callTo());
    const iterator = chunks[Symbol.asyncIterator]();
    let bytes = ((await iterator.next()).value as Uint8Array).length;
    let seenBytes = -1;
    // Blocked, and still where it was at the last look: the buffers on the way are full.
    await vi.waitUntil(
      () => {
        const { isBlocked = false, writtenBytes = 0 } = upstream.requests[0] ?? {};
        const hasStopped = isBlocked && writtenBytes === seenBytes;
        seenBytes = writtenBytes;
        return hasStopped;
      },
      { timeout: PATIENT.total, interval: 100 },
    );
    expect(seenBytes).toBeLessThan(16 * 1024 * 1024);
    for (;;) {
      const next = await iterator.next();
      if (next.done === true) break;
      bytes += next.value.length;
    }
    expect(bytes).toBe(total);
  });
});

describe('giving up', () => {
  it.each([
    ['before the head', [never()]],
    ['in the body', [head(200, SSE), write('data: 1\n\n'), never()]],
  ])('an abort %s closes the socket at once and throws its reason', async (_, script) => {
    upstream.answer(script);
    const aborter = new AbortController();
    const reason = new Error('caller went away');
    const work = exchange({ signal: aborter.signal }).catch((error: unknown) => error);
    const request = await upstream.request(0);
    await sleep(50);
    const before = performance.now();
    aborter.abort(reason);
    expect(await work).toBe(reason);
    await request.closed;
    expect(performance.now() - before).toBeLessThan(1000);
  });

  it('an abort from before the call sends nothing', async () => {
    await expect(exchange({ signal: AbortSignal.abort(new Error('too late')) })).rejects.toThrow('too late');
    expect(upstream.connections).toBe(0);
  });

  it('returning early closes the socket, also while a read is pending', async () => {
    upstream.answer([head(200, SSE), never()]);
    const { chunks } = await transport.open(callTo());
    const iterator = chunks[Symbol.asyncIterator]();
    const pending = iterator.next().catch((error: unknown) => error);
    await iterator.return?.();
    await upstream.requests[0]?.closed;
    await pending;
  });

  it('closing the transport ends what is open', async () => {
    upstream.answer([head(200, SSE), never()]);
    const { chunks } = await transport.open(callTo());
    const problem = problemOf(textOf(chunks));
    await transport.close();
    expect((await problem).reason).toBe('reset');
  });
});

describe('a guarded call', () => {
  const NOT_ALLOWED = 'the address is unknown or not one that may be called';
  let rules = NO_EGRESS_RULES;
  let guarded: Transport;

  beforeEach(() => {
    rules = NO_EGRESS_RULES;
    guarded = createNetworkTransport(TRANSPORT_LIMITS, () => rules);
  });

  afterEach(() => guarded.close());

  const byName = () => upstream.url.replace('127.0.0.1', 'localhost');
  const openGuarded = (url: string) => guarded.open(callTo({ url, isGuarded: true }));

  it('does not reach this machine', async () => {
    for (const url of [upstream.url, byName()]) {
      expect(await problemOf(openGuarded(url))).toMatchObject({ reason: 'connect', message: NOT_ALLOWED });
    }
    expect(upstream.requests).toEqual([]);
  });

  it('reaches addresses that the current rules allow', async () => {
    upstream.answer(reply(200, { ok: 1 }));
    upstream.answer(reply(200, { ok: 2 }));
    rules = parseEgressRules(['127.0.0.1']);
    expect(await textOf((await openGuarded(upstream.url)).chunks)).toContain('1');
    rules = parseEgressRules(['localhost']);
    expect(await textOf((await openGuarded(byName())).chunks)).toContain('2');
    expect((await problemOf(openGuarded(upstream.url))).message).toBe(NOT_ALLOWED);
    rules = NO_EGRESS_RULES;
    expect((await problemOf(openGuarded(byName()))).message).toBe(NOT_ALLOWED);
    expect(upstream.requests).toHaveLength(2);
  });

  it('shares no connection with an unguarded one', async () => {
    upstream.answer(reply(200, { ok: 1 }));
    expect(await textOf((await guarded.open(callTo({ url: upstream.url }))).chunks)).toContain('1');
    expect((await problemOf(openGuarded(upstream.url))).message).toBe(NOT_ALLOWED);
  });
});

describe('a kept connection that the upstream has closed', () => {
  // Whatever this machine has to do besides: an end that comes at once is noticed within that.
  beforeEach(() => {
    transport = createNetworkTransport({ ...TRANSPORT_LIMITS, staleMs: 5_000 });
  });

  /** Until connections are put back: a timer does that with an immediate, which may come late with this one. */
  const untilPutBack = async () => {
    await sleep(20);
    await new Promise((resolve) => setImmediate(resolve));
  };

  /** One connection that works, and is there for the next call. */
  const warm = async () => {
    upstream.answer([head(200), write('one'), end()]);
    await textOf((await transport.open(callTo())).chunks);
    await untilPutBack();
    upstream.clear();
  };

  it('is recognized, and the call is not sent again, because the next one would count', async () => {
    await warm();
    upstream.answer([reset()]);
    upstream.answer([head(200), write('two'), end()]);
    expect(await problemOf(transport.open(callTo()))).toBeInstanceOf(StaleConnection);
    expect(upstream.requests).toHaveLength(1);
    // Those that were kept are closed with it.
    expect(await textOf((await transport.open(callTo())).chunks)).toBe('two');
    expect(upstream.connections).toBe(2);
  });

  it('is no failure of a call that costs nothing: it is sent again', async () => {
    await warm();
    upstream.answer([reset()]);
    upstream.answer([head(200), write('two'), end()]);
    const { status, chunks } = await transport.open(callTo({ isRepeatable: true }));
    expect([status, await textOf(chunks)]).toEqual([200, 'two']);
    expect(upstream.connections).toBe(2);
  });

  it('is no failure where all of several kept ones are closed: the call is sent over a new one', async () => {
    for (let count = 0; count < 6; count++) upstream.answer([stall(50), head(200), write('one'), end()]);
    const replies = await Promise.all(Array.from({ length: 6 }, () => transport.open(callTo())));
    await Promise.all(replies.map(({ chunks }) => textOf(chunks)));
    await untilPutBack();
    upstream.clear();
    upstream.answer([reset()]);
    upstream.answer([head(200), write('two'), end()]);
    const { chunks } = await transport.open(callTo({ isRepeatable: true }));
    expect(await textOf(chunks)).toBe('two');
    expect([upstream.connections, upstream.requests.length]).toEqual([7, 2]);
  });

  it('is given up when the transport was closed, and nothing is sent again', async () => {
    const closing = createNetworkTransport();
    upstream.answer([head(200), write('one'), end()]);
    await textOf((await closing.open(callTo())).chunks);
    await untilPutBack();
    upstream.clear();
    upstream.answer([stall(5000)]);
    const problem = problemOf(closing.open(callTo()));
    await sleep(50);
    await closing.close();
    expect(await problem).toBeInstanceOf(Error);
    expect(upstream.requests).toHaveLength(1);
  });

  it('is a failure when it was new, and once an answer began', async () => {
    upstream.answer([reset()]);
    expect(await problemOf(transport.open(callTo()))).toMatchObject({ reason: 'reset' });
    expect(upstream.requests).toHaveLength(1);
    upstream.clear();
    await warm();
    upstream.answer([head(200), write('part'), reset()]);
    const { chunks } = await transport.open(callTo());
    expect(await problemOf(textOf(chunks))).toMatchObject({ reason: 'reset' });
  });

  it.each([60, 400])(
    'is a failure when it closes after %i ms: the call may have been worked on',
    async (ms) => {
      /** Whether the call failed; otherwise it was sent again. */
      const hasFailed = async () => {
        transport = createNetworkTransport();
        await warm();
        upstream.answer([stall(ms), reset()]);
        upstream.answer([head(200), write('two'), end()]);
        const before = upstream.requests.length;
        const opening = transport.open(callTo({ isRepeatable: true }));
        const problem = await opening.then(({ chunks }) => textOf(chunks)).catch((thrown: unknown) => thrown);
        const sent = upstream.requests.length - before;
        await transport.close();
        upstream.clear();
        if (problem === 'two') return false;
        expect(problem).toMatchObject({ reason: 'reset' });
        expect(problem).not.toBeInstanceOf(StaleConnection);
        expect(sent).toBe(1);
        return true;
      };
      // A busy process may take a handshake for longer than 60 ms, but not each; none counts as longer than 250 ms.
      if (ms < 250) await vi.waitUntil(hasFailed, PATIENT.total);
      else expect(await hasFailed()).toBe(true);
    },
  );
});
