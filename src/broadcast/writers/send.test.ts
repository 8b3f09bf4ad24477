import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseEgressRules } from '../../kit/net/egress.ts';
import { createEgress } from '../../net/egress/egress.ts';
import { FollowerRefuses, FollowerWaits } from '../../ports/following/follower.ts';
import { sendOver } from './send.ts';

const NOW = Date.parse('2026-11-19T12:00:00Z');

let server: Server;
let port: number;
let seen: number;
let respond: (response: ServerResponse) => void;

beforeEach(async () => {
  seen = 0;
  server = createServer((request, response) => {
    seen++;
    request.resume().on('end', () => respond(response));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  ({ port } = server.address() as AddressInfo);
});

afterEach(async () => {
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
});

/** Sends to a name that leads to this machine. `isOperators`: the file names it. */
function sent(isOperators = true, allowed: readonly string[] = [], totalMs?: number) {
  const egress = createEgress({
    rules: () => parseEgressRules(allowed),
    lookUpAll: (_host, _options, done) => done(null, [{ address: '127.0.0.1', family: 4 }]),
  });
  const host = isOperators ? '127.0.0.1' : 'collector.example.com';
  const send = sendOver(egress, isOperators, () => NOW, totalMs);
  const request = { method: 'POST', headers: { 'content-type': 'text/plain' }, body: 'x' } as const;
  return send(`http://${host}:${port}/v1/traces`, request, new AbortController().signal);
}

const failure = (sending: Promise<unknown>) =>
  sending.then(
    () => undefined,
    (error: unknown) => error,
  );

const answers = (status: number, headers: Record<string, string> = {}, body = '') => {
  respond = (response) => response.writeHead(status, headers).end(body);
};

describe('what is sent to a destination', () => {
  it('reaches a private address only if the operator names it', async () => {
    answers(200);
    const refused = await failure(sent(false, ['other.example.com']));
    expect(refused).toBeInstanceOf(FollowerWaits);
    expect(seen).toBe(0);
    expect((await sent(false, [`collector.example.com:${port}`])).status).toBe(200);
    expect((await sent()).status).toBe(200);
    expect(seen).toBe(2);
  });

  it('stays private when a usual port is named, and its name leads here', async () => {
    const egress = createEgress({
      rules: () => parseEgressRules([]),
      lookUpAll: (_host, _options, done) => done(null, [{ address: '10.1.2.3', family: 4 }]),
    });
    const send = sendOver(egress, false, () => NOW);
    const request = { method: 'POST', headers: {}, body: 'x' } as const;
    await expect(
      send('https://collector.example.com/v1/traces', request, new AbortController().signal),
    ).rejects.toThrow('the address is unknown or not one that may be called');
  });

  it.each([
    ['a number of seconds', { 'retry-after': '120' }, 120_000],
    ['a date', { 'retry-after': 'Thu, 19 Nov 2026 12:00:30 GMT' }, 30_000],
    ['nothing', {}, undefined],
    ['nonsense', { 'retry-after': 'soon' }, undefined],
  ])('waits as long as a 429 or 503 says: %s', async (_, headers, retryAfterMs) => {
    for (const status of [429, 503]) {
      answers(status, headers as Record<string, string>);
      expect(await failure(sent())).toMatchObject({ name: 'FollowerWaits', retryAfterMs, fault: undefined });
    }
  });

  it.each([400, 413, 422])('is refused by status %s', async (status) => {
    answers(status);
    expect(await failure(sent())).toBeInstanceOf(FollowerRefuses);
  });

  it.each([301, 307, 401, 403, 404, 405, 415, 500, 502])(
    'waits after status %s, and says why',
    async (status) => {
      answers(status, { location: 'http://elsewhere.example.com/' });
      const problem = await failure(sent());
      expect(problem).toBeInstanceOf(FollowerWaits);
      expect(String(problem)).toContain(String(status));
      expect(seen).toBe(1);
    },
  );

  it.each([408, 504, 524])('is too much at once by status %s', async (status) => {
    answers(status);
    expect(await failure(sent())).toMatchObject({ name: 'FollowerWaits', fault: 'late' });
  });

  it.each([
    [500, 'failed'],
    [502, 'failed'],
    [503, undefined],
    [403, undefined],
  ])('may fail because of what was sent: status %s', async (status, fault) => {
    answers(status);
    expect(await failure(sent())).toMatchObject({ fault });
  });

  it('is taken whatever a 200 says, and however much', async () => {
    answers(200, { 'content-type': 'text/html' }, '<p>'.repeat(100_000));
    expect((await sent()).status).toBe(200);
  });

  it('is given up if no answer comes in time', async () => {
    respond = () => {};
    expect(await failure(sent(true, [], 100))).toMatchObject({ name: 'FollowerWaits', fault: 'late' });
  });

  it('waits when the connection ends without an answer', async () => {
    respond = (response) => response.socket?.destroy();
    expect(await failure(sent())).toMatchObject({ name: 'FollowerWaits', fault: undefined });
  });
});
