import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import type { InboundRequest } from './inbound-request.ts';
import { hasReusePort, Listener, type ListenerHandlers } from './listener.ts';
import type { OutboundResponse } from './outbound-response.ts';
import { MAX_RESERVED_PER_TURN } from './reserved-shares.ts';

const LIMITS = {
  headersMs: 5_000,
  requestMs: 5_000,
  idleMs: 5_000,
  lingerMs: 4_000,
  discardMs: 4_000,
  maxHeadBytes: 1_000,
  maxPipelined: 4,
};
const BUSY = 'HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n';
const SERVED = 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n';
const REQUEST = 'POST /work HTTP/1.1\r\nHost: here\r\nContent-Length: 4\r\n\r\nbody';

const open: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of open.splice(0)) await close();
});

/** An overloaded listener that turns away requests for `/work`. */
async function overloadedListener(
  changes: Partial<ListenerHandlers> = {},
  limits = LIMITS,
  { port: wanted, listeningSockets } = { port: 0, listeningSockets: 1 },
) {
  const accepted: string[] = [];
  const turnedAway: string[] = [];
  const listener = new Listener(
    limits,
    { checkMs: 1_000, listeningSockets },
    {
      isOverloaded: () => true,
      turnAway: ({ target }) => {
        if (target !== '/work') return undefined;
        turnedAway.push(target);
        return BUSY;
      },
      shareOf: () => undefined,
      accept: (request: InboundRequest, response: OutboundResponse) => {
        accepted.push(`${request.url} ${String(request.takeBody())}`);
        response.write(SERVED, 'latin1');
        response.end();
      },
      refuse: (connection) => connection.endWith('HTTP/1.1 400 Bad Request\r\n\r\n'),
      failed: (error) => {
        throw error;
      },
      ...changes,
    },
  );
  const { port } = await listener.listen('127.0.0.1', wanted);
  open.push(() => {
    listener.destroyConnections();
    return listener.close();
  });
  return { listener, port, accepted, turnedAway };
}

async function caller(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1').setNoDelay(true);
  await once(socket, 'connect');
  open.push(() => socket.destroy());
  return socket;
}

/** Reads until as many characters have come. */
async function heard(socket: Socket, length: number): Promise<string> {
  let text = '';
  while (text.length < length) text += String((await once(socket, 'data'))[0]);
  return text;
}

test('turns a request away without parsing it, and keeps the connection', async () => {
  const { port, accepted, turnedAway } = await overloadedListener();
  const socket = await caller(port);
  for (const _time of [1, 2, 3]) {
    socket.write(REQUEST);
    expect(await heard(socket, BUSY.length)).toBe(BUSY);
  }
  expect(turnedAway).toHaveLength(3);
  expect(accepted).toEqual([]);
});

test('turns away all of many requests that come at once', async () => {
  const { port, accepted } = await overloadedListener();
  const sockets = await Promise.all(Array.from({ length: 200 }, () => caller(port)));
  const answers = sockets.map((socket) => heard(socket, BUSY.length));
  for (const socket of sockets) socket.write(REQUEST);
  expect(new Set(await Promise.all(answers))).toEqual(new Set([BUSY]));
  expect(accepted).toEqual([]);
});

test.each([
  ['another route', ['POST /other HTTP/1.1\r\nHost: here\r\nContent-Length: 4\r\n\r\nbody'], '/other body'],
  ['a head in two pieces', [REQUEST.slice(0, 20), REQUEST.slice(20)], undefined],
  ['a body that comes later', [REQUEST.slice(0, -2), REQUEST.slice(-2)], '/work undefined'],
  ['a request without a length', ['POST /work HTTP/1.1\r\nHost: here\r\n\r\n'], '/work undefined'],
] as const)('during overload parses as usual: %s', async (_what, pieces, expected) => {
  const { port, accepted } = await overloadedListener();
  const socket = await caller(port);
  for (const piece of pieces) {
    socket.write(piece);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const answer = expected === undefined ? BUSY : SERVED;
  if (socket.bytesRead < answer.length) await once(socket, 'readable');
  expect(String(socket.read())).toBe(answer);
  expect(accepted).toEqual(expected === undefined ? [] : [expected]);
});

test('responds to two requests in one piece in their order', async () => {
  const { port, accepted } = await overloadedListener();
  const socket = await caller(port);
  socket.write('POST /other HTTP/1.1\r\nHost: here\r\nContent-Length: 4\r\n\r\nbody'.concat(REQUEST));
  expect(await heard(socket, SERVED.length + BUSY.length)).toBe(SERVED + BUSY);
  expect(accepted).toEqual(['/other body']);
});

test('does not take bytes of another caller for the end of a head', async () => {
  const { port, accepted, turnedAway } = await overloadedListener();
  const [first, second] = [await caller(port), await caller(port)];
  first.write(REQUEST);
  await heard(first, BUSY.length);
  const end = REQUEST.indexOf('\r\n\r\n');
  second.write(REQUEST.slice(0, end + 2));
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect([turnedAway.length, accepted.length, second.bytesRead]).toEqual([1, 0, 0]);
  second.write(REQUEST.slice(end + 2));
  expect(await heard(second, BUSY.length)).toBe(BUSY);
});

test('closes as soon as the caller has, though not all of its request was read', async () => {
  const { listener, port } = await overloadedListener({
    isOverloaded: () => false,
    accept: (_request, response) => {
      response.write(SERVED, 'latin1');
      response.endLingering();
    },
  });
  const socket = await caller(port);
  socket.write(`POST /work HTTP/1.1\r\nHost: here\r\nContent-Length: 1000000\r\n\r\n${'a'.repeat(1000)}`);
  expect(await heard(socket, SERVED.length)).toBe(SERVED);
  const sinceMs = performance.now();
  socket.destroy();
  await listener.close();
  expect(performance.now() - sinceMs).toBeLessThan(LIMITS.lingerMs / 2);
});

test('drops the rest of large requests on a limited number of connections', async () => {
  const { port } = await overloadedListener(
    {
      isOverloaded: () => false,
      accept: (_request, response) => {
        response.write(SERVED, 'latin1');
        response.endLingering();
      },
    },
    { ...LIMITS, lingerMs: 50 },
  );
  const ask = async () => {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true }).on('error', () => {});
    open.push(() => socket.destroy());
    socket.write('POST /work HTTP/1.1\r\nHost: here\r\nContent-Length: 1000000\r\n\r\na');
    await heard(socket, SERVED.length);
    return socket;
  };
  const sockets = await Promise.all(Array.from({ length: 70 }, ask));
  await new Promise((resolve) => setTimeout(resolve, 150));
  // Whether a connection is closed shows when something is sent: a reset comes back, and the next write fails.
  for (const _time of [1, 2, 3]) {
    for (const socket of sockets) socket.write('a');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  expect(sockets.filter(({ destroyed }) => destroyed)).toHaveLength(6);
});

test('closes with its last connection', async () => {
  const { listener, port } = await overloadedListener();
  const socket = await caller(port);
  socket.write(REQUEST);
  await heard(socket, BUSY.length);
  let isClosed = false;
  const closed = listener.close().then(() => {
    isClosed = true;
  });
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(isClosed).toBe(false);
  socket.end();
  await closed;
});

/** A listener with several sockets on one port, where Node can share one. */
async function sharedListener(port: number) {
  const { listener } = await overloadedListener({}, LIMITS, { port, listeningSockets: 8 });
  return listener;
}

/** The most connections that one turn of the event loop accepts, of 40 that come at once. */
async function acceptedInOneTurn(listeningSockets: number): Promise<number> {
  let accepted = 0;
  let before = 0;
  let most = 0;
  const count = () => accepted++;
  subscribe('net.server.socket', count);
  const { port } = await overloadedListener({}, LIMITS, { port: 0, listeningSockets });
  const callers = Array.from({ length: 40 }, () => connect(port, '127.0.0.1'));
  open.push(() => callers.map((socket) => socket.destroy()));
  while (accepted < callers.length) {
    await new Promise((resolve) => setImmediate(resolve));
    most = Math.max(most, accepted - before);
    before = accepted;
  }
  unsubscribe('net.server.socket', count);
  return most;
}

test('accepts one connection in a turn, or more from several sockets if Node can share a port', async () => {
  expect(await acceptedInOneTurn(1)).toBe(1);
  const shared = await acceptedInOneTurn(8);
  expect(shared).toBeGreaterThanOrEqual(hasReusePort() ? 2 : 1);
  expect(shared).toBeLessThanOrEqual(8);
});

test('does not share its port with another listener, and leaves it free in the end', async () => {
  const first = await overloadedListener({}, LIMITS, { port: 0, listeningSockets: 8 });
  await expect(sharedListener(first.port)).rejects.toMatchObject({ code: 'EADDRINUSE' });
  await first.listener.close();
  await sharedListener(first.port);
});

test('parses requests with a reserved share before a crowd that came earlier, as many as the share has', async () => {
  const { port, accepted } = await overloadedListener({
    isOverloaded: () => false,
    shareOf: (method, target) => (method === 'GET' && target === '/probe' ? 'probes' : undefined),
  });
  const crowd = await Promise.all(Array.from({ length: 60 }, () => caller(port)));
  const probes = await Promise.all(Array.from({ length: MAX_RESERVED_PER_TURN + 2 }, () => caller(port)));
  const hearAll = () => Promise.all([...crowd, ...probes].map((socket) => heard(socket, SERVED.length)));
  // Connections are accepted one by one: only those that are open count.
  for (const socket of [...crowd, ...probes]) socket.write(REQUEST);
  await hearAll();
  accepted.length = 0;
  const answers = hearAll();
  for (const socket of crowd) socket.write(REQUEST);
  for (const socket of probes) socket.write('GET /probe HTTP/1.1\r\nHost: here\r\n\r\n');
  await answers;
  const places = accepted.flatMap((line, at) => (line.startsWith('/probe') ? [at] : []));
  expect(places.slice(0, MAX_RESERVED_PER_TURN).every((at) => at < MAX_RESERVED_PER_TURN)).toBe(true);
  // The rest of the probes came last, and waits in the line.
  expect(places.slice(MAX_RESERVED_PER_TURN).every((at) => at >= crowd.length)).toBe(true);
});
