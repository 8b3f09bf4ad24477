import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { routesFor } from '../../src/http/routes/routes.ts';
import { openTestGateway, type TestGateway } from './harness.ts';

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await openTestGateway({ providers: [{ slug: 'simulator' }] });
});

afterAll(() => gateway.close());

describe('the examples of generation routes', () => {
  const rows = routesFor('signalbox').filter(({ tag }) => tag === 'Generation' || tag === 'Routing');

  it.each(rows.map((route) => [route.path, route] as const))(
    'of %s are answered as shown',
    async (path, route) => {
      const reply = await gateway.post(path, route.example?.body);
      const answer = (await reply.json()) as object;
      expect([reply.status, answer]).toEqual([200, expect.anything()]);
      const shown = route.example?.answer as object;
      expect(Object.keys(answer)).toEqual(expect.arrayContaining(Object.keys(shown)));
    },
  );
});
