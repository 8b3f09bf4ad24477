import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { NO_EGRESS_RULES } from '../../kit/net/egress.ts';
import { createEgress } from '../../net/egress/egress.ts';
import { FollowerWaits } from '../../ports/following/follower.ts';
import { sendOver } from './send.ts';

/** Bodies that cannot be read to their end, by their paths. */
const BODIES: Readonly<Record<string, (response: ServerResponse, status: number) => void>> = {
  'in-another-coding': (response, status) => {
    response.writeHead(status, { 'content-encoding': 'gzip' }).end('{}');
  },
  'broken-off': (response, status) => {
    response.writeHead(status, { 'content-length': '100' });
    response.write('{', () => response.socket?.destroy());
  },
  long: (response, status) => {
    response.writeHead(status).end(Buffer.alloc(1024 * 1024));
  },
  endless: (response, status) => {
    response.writeHead(status).write('{');
  },
};

/** Of the whole answer, of which only an endless one takes so long. */
const LIMIT_MS = 5_000;

let server: Server;

beforeAll(async () => {
  server = createServer((request, response) => {
    const [, status, body = ''] = request.url?.split('/') ?? [];
    request.resume().on('end', () => BODIES[body]?.(response, Number(status)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});

afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const send = (path: string) => {
  const { port } = server.address() as AddressInfo;
  const request = { method: 'POST', headers: {}, body: '{}' } as const;
  return sendOver(
    createEgress({ rules: () => NO_EGRESS_RULES }),
    true,
    () => 0,
    LIMIT_MS,
  )(`http://127.0.0.1:${port}/${path}`, request, new AbortController().signal);
};

it.each(Object.keys(BODIES))('goes by the status of an answer whose body is %s', async (body) => {
  expect((await send(`200/${body}`)).status).toBe(200);
  const problem = await send(`503/${body}`).catch((error) => error);
  expect(problem).toBeInstanceOf(FollowerWaits);
  expect(problem.message).toBe('it answers with status 503');
});
