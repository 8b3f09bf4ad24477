import { afterEach, describe, expect, it } from 'vitest';
import { ask, openSocket, PLAIN_KEY, rawBody, startServer, stopServers } from '../../kit/http-harness.ts';

afterEach(stopServers);

const SHORT = { headersMs: 150, bodyMs: 150, checkMs: 30, lingerMs: 50 };

/** Opens sockets that write one byte of `bytes` every 20 ms after `head`; resolves with what each of them read. */
async function trickle(port: number, count: number, head: string, bytes: string): Promise<string[]> {
  return Promise.all(
    Array.from({ length: count }, async () => {
      const { socket, read } = await openSocket(port);
      socket.write(head);
      let next = 0;
      const timer = setInterval(() => {
        if (socket.writable) socket.write(bytes[next++ % bytes.length] ?? 'x');
      }, 20);
      await new Promise((resolve) => socket.once('close', resolve));
      clearInterval(timer);
      return read();
    }),
  );
}

describe('clients that are slow on purpose', () => {
  it('ends heads that never end with 408, while others are served', async () => {
    const { port } = await startServer({ times: SHORT });
    const slow = trickle(port, 30, 'GET /healthz HTTP/1.1\r\nHost: a\r\n', 'X-A: b\r\n');
    const others = await Promise.all(Array.from({ length: 30 }, () => ask(port, { path: '/api/v1/models' })));
    expect(others.every(({ status }) => status === 200)).toBe(true);
    for (const text of await slow) {
      expect(text).toMatch(/^HTTP\/1\.1 408 /);
      expect(rawBody(text).error.code).toBe(408);
    }
  });

  it('ends bodies that never end with 408 and closes', async () => {
    const { port } = await startServer({ times: SHORT });
    const head = `POST /api/v1/responses HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${PLAIN_KEY}\r\nContent-Type: application/json\r\n`;
    const started = performance.now();
    const announced = trickle(port, 10, `${head}Content-Length: 2000\r\n\r\n`, ' ');
    const chunked = trickle(port, 10, `${head}Transfer-Encoding: chunked\r\n\r\n`, '1\r\nx\r\n');
    for (const text of [...(await announced), ...(await chunked)]) {
      expect(text).toMatch(/^HTTP\/1\.1 408 /);
      expect(text).toMatch(/\r\nConnection: close\r\n/i);
      expect(text).toMatch(/\r\nX-Generation-Id: gen-/);
      expect(rawBody(text).error).toMatchObject({ code: 408, metadata: { error_type: 'timeout' } });
    }
    // A limit that each byte extended would let them go on for 40 s.
    expect(performance.now() - started).toBeLessThan(30_000);
  });
});
