import { connect } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { GatewayError } from '../../../src/ir/errors.ts';
import type { EventBatch } from '../../../src/ir/events.ts';
import {
  ask,
  closeEvents,
  contextOf,
  openEvents,
  openSocket,
  PLAIN_KEY,
  RESPONSES_BODY,
  startServer,
  stopServers,
  until,
} from '../../kit/http-harness.ts';

afterEach(stopServers);

const STREAMED = { path: '/v1/responses', body: { ...RESPONSES_BODY, stream: true }, key: PLAIN_KEY };

/** A gateway whose streams wait in the middle until they are released or aborted. */
function waiting() {
  let release = (): void => {};
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  const state = { open: 0 };
  return {
    state,
    release: () => release(),
    gateway: {
      stream: async (input: Parameters<typeof contextOf>[0]) => ({
        context: contextOf(input),
        batches: (async function* (): AsyncGenerator<EventBatch> {
          state.open++;
          yield openEvents('a');
          const aborted = new Promise<never>((_, reject) =>
            input.signal.addEventListener('abort', () => reject(input.signal.reason)),
          );
          await Promise.race([gate, aborted]);
          yield closeEvents();
        })(),
      }),
      complete: (input: Parameters<typeof contextOf>[0]) => {
        state.open++;
        return new Promise<never>((_, reject) =>
          input.signal.addEventListener('abort', () => reject(input.signal.reason)),
        );
      },
    },
  };
}

function connects(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => resolve(false));
  });
}

describe('leaving', () => {
  it('serves what comes, on kept and on new connections, while /readyz says that it is draining', async () => {
    const { server, port } = await startServer();
    const kept = await openSocket(port);
    kept.socket.write('GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n');
    await until(() => kept.read().includes('"ok"'), 'a kept connection');
    let isOver = false;
    const leaving = server.leave(600_000).then(() => {
      isOver = true;
    });
    const ready = await ask(port, { path: '/readyz' });
    expect(ready).toMatchObject({ status: 503, json: { status: 'draining' } });
    const fresh = await ask(port, STREAMED);
    expect(fresh).toMatchObject({ status: 200, headers: { connection: 'close' } });
    expect(fresh.text).toContain('response.completed');
    kept.socket.write('GET /api/v1/models HTTP/1.1\r\nHost: a\r\n\r\n');
    await until(() => kept.socket.readableEnded, 'the end of the kept connection');
    expect(kept.read()).toMatch(/HTTP\/1\.1 200 OK\r\n(?:[^\r]+\r\n)*Connection: close\r\n/i);
    expect(kept.read()).not.toContain(' 503 ');
    expect(isOver).toBe(false);
    const draining = server.drain(60_000);
    await leaving;
    await draining;
    expect(await connects(port)).toBe(false);
  });

  it('ends after its time', async () => {
    const { server, port } = await startServer();
    await server.leave(1);
    expect((await ask(port, { path: '/api/v1/models' })).status).toBe(200);
    await server.drain(0);
    expect(await connects(port)).toBe(false);
  });

  it('takes no time if nothing was served yet', async () => {
    const { server } = await startServer({ notReady: true });
    await server.leave(600_000);
    expect(server.state).toBe('draining');
  });
});

describe('draining', () => {
  it('lets streams finish, refuses new work, and resolves when the last is done', async () => {
    const { state, release, gateway } = waiting();
    const { server, port } = await startServer({ gateway });
    const kept = await openSocket(port);
    const streams = Array.from({ length: 20 }, () => ask(port, STREAMED));
    // Two requests on one connection: its second stream is read on after the drain began.
    kept.socket.write('GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n');
    await until(() => kept.read().includes('"ok"'), 'a kept connection');
    const text = JSON.stringify(STREAMED.body);
    kept.socket.write(
      `POST /v1/responses HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${PLAIN_KEY}\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${text.length}\r\n\r\n${text}`,
    );
    await until(() => state.open === 21, 'all streams open');
    let drained = false;
    const draining = server.drain(80_000).then(() => {
      drained = true;
    });
    const late = await ask(port, { path: '/api/v1/models' });
    expect(late.status).toBe(503);
    expect((await ask(port, { path: '/readyz' })).status).toBe(503);
    expect((await ask(port, { path: '/healthz' })).status).toBe(200);
    // Pipelined behind the open stream: answered after it, with a refusal.
    kept.socket.write(
      'GET /api/v1/models HTTP/1.1\r\nHost: a\r\n\r\nGET /readyz HTTP/1.1\r\nHost: a\r\n\r\n',
    );
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(drained).toBe(false);
    release();
    const released = performance.now();
    for (const { status, text: answer } of await Promise.all(streams)) {
      expect(status).toBe(200);
      expect(answer).toContain('response.completed');
    }
    await draining;
    expect(await connects(port)).toBe(false);
    expect(performance.now() - released).toBeLessThan(40_000);
    expect(kept.read()).toContain('response.completed');
    expect(kept.read()).toMatch(/HTTP\/1\.1 503 .*\r\n/);
    expect(kept.read()).toMatch(/\r\nRetry-After: 1\r\n/i);
    expect(kept.read()).toMatch(/\r\nConnection: close\r\n/i);
  });

  it('ends what is left at the limit: streams in their own format, the rest with 503', async () => {
    const { state, gateway } = waiting();
    const { server, port } = await startServer({ gateway });
    const stream = ask(port, STREAMED);
    const whole = ask(port, { ...STREAMED, body: RESPONSES_BODY });
    await until(() => state.open === 2, 'both at work');
    const started = performance.now();
    await server.drain(80);
    expect(performance.now() - started).toBeLessThan(15_000);
    const { status, text } = await stream;
    expect(status).toBe(200);
    expect(text).toContain('event: response.failed');
    expect(text.trimEnd().endsWith('data: [DONE]')).toBe(true);
    const refused = await whole;
    expect(refused.status).toBe(503);
    expect(refused.json.error.message).toBe('The gateway is shutting down');
  });

  it('ends streams of a gateway that does not react, too', async () => {
    const { server, port } = await startServer({
      times: { abortGraceMs: 50 },
      gateway: {
        stream: async (input) => ({
          context: contextOf(input),
          batches: (async function* (): AsyncGenerator<EventBatch> {
            yield openEvents('a');
            await new Promise(() => {});
          })(),
        }),
      },
    });
    const { socket, read } = await openSocket(port);
    const text = JSON.stringify(STREAMED.body);
    socket.write(
      `POST /v1/responses HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${PLAIN_KEY}\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${text.length}\r\n\r\n${text}`,
    );
    await until(() => read().includes('response.created'), 'the stream opens');
    await server.drain(20);
    await until(() => read().includes('response.failed'), 'the failure');
  });

  it('is over at once when nothing is in flight, idle connections or not', async () => {
    const { server, port } = await startServer();
    const { socket, read } = await openSocket(port);
    socket.write('GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n');
    await until(() => read().includes('"ok"'), 'the answer');
    const started = performance.now();
    await server.drain(60_000);
    expect(performance.now() - started).toBeLessThan(20_000);
  });

  it('still serves what came in the turn in which it begins', async () => {
    const { server, port } = await startServer();
    const { socket, read } = await openSocket(port);
    socket.write('GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n');
    await until(() => read().includes('"ok"'), 'the answer');
    const body = JSON.stringify(RESPONSES_BODY);
    const head = `POST /v1/responses HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${PLAIN_KEY}\r\n`;
    // Bytes written in this turn are read in the next one, so the server has not seen them yet.
    await nextTurn();
    socket.write(`${head}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
    await nextTurn();
    await server.drain(60_000);
    await until(() => socket.closed, 'the end');
    expect(read().match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 200']);
  });

  it('says no by a reason that the gateway can pass on', async () => {
    const { state, gateway } = waiting();
    let reason: unknown;
    const { server, port } = await startServer({
      gateway: {
        complete: (input) => {
          input.signal.addEventListener('abort', () => {
            reason = input.signal.reason;
          });
          return gateway.complete(input);
        },
      },
    });
    const whole = ask(port, { ...STREAMED, body: RESPONSES_BODY });
    await until(() => state.open === 1, 'at work');
    await server.drain(0);
    await whole;
    expect(reason).toBeInstanceOf(GatewayError);
  });

  it('answers a caller whose request is incomplete, in time', async () => {
    const { server, port } = await startServer({ times: { lingerMs: 20 } });
    const { socket, read } = await openSocket(port);
    socket.write(
      `POST /api/v1/responses HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${PLAIN_KEY}\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n{"model":`,
    );
    await until(() => server.inFlight.requests() === 1, 'the beginning');
    await new Promise((resolve) => setTimeout(resolve, 20));
    const sinceMs = performance.now();
    await server.drain(50);
    expect(performance.now() - sinceMs).toBeLessThan(15_000);
    expect(read()).toMatch(/^HTTP\/1\.1 503 [\s\S]*shutting down/);
  });
});

it('says why it cannot listen', async () => {
  const { port } = await startServer();
  const { createHttpServer } = await import('../../../src/http/http-server.ts');
  const second = createHttpServer({
    settings: () => ({
      vendor: 'signalbox',
      basePath: '/api/v1',
      maxBodyBytes: 1,
      requestDeadlineMs: 1,
      maxConcurrentRequests: 1,
    }),
  } as any);
  await expect(second.listen('127.0.0.1', port)).rejects.toMatchObject({ code: 'EADDRINUSE' });
});
