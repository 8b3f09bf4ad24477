import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { NO_ANSWER, reach } from './reach.ts';

const servers: Server[] = [];

afterEach(() => {
  for (const server of servers.splice(0)) {
    server.close();
    server.closeAllConnections();
  }
});

/** `127.0.0.1:PORT` of a server. */
async function listen(answer: RequestListener): Promise<string> {
  const server = createServer(answer);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

it('accepts any status, follows no redirect, and reads the clock of the server', async () => {
  const asked: (string | undefined)[] = [];
  const host = await listen((request, response) => {
    asked.push(request.url);
    const date = new Date(Date.now() + 60_000).toUTCString();
    response.writeHead(302, { location: '/elsewhere', date }).end('x'.repeat(1e6));
  });
  const reached = await reach(`http://${host}/v1?key=canary`, 2_000);
  expect(reached).toMatchObject({ ok: true, status: 302 });
  expect(Math.abs((reached.ok && reached.clockAheadMs ? reached.clockAheadMs : 0) - 60_000)).toBeLessThan(
    5_000,
  );
  expect(asked).toEqual(['/v1']);
});

it('has no clock difference if the server sends no Date', async () => {
  const host = await listen((_request, response) => {
    response.sendDate = false;
    response.end();
  });
  expect(await reach(`http://${host}`, 2_000)).toMatchObject({ ok: true, clockAheadMs: undefined });
});

it('says why the server did not respond', async () => {
  const silent = await listen(() => {});
  expect(await reach(`http://${silent}`, 100)).toEqual({ ok: false, problem: NO_ANSWER });
  const plain = await listen((_request, response) => response.end());
  expect(await reach(`https://${plain}`, 2_000)).toEqual({ ok: false, problem: 'TLS handshake failed' });
  expect(await reach('http://127.0.0.1:1', 2_000)).toEqual({ ok: false, problem: 'connection refused' });
});
