import { expect, it } from 'vitest';
import { runs } from '../../kit/builders/runs.ts';
import { openTestGateway } from '../../kit/gateway-harness.ts';
import { fuzzRoutes } from './routes.ts';

it('answers wrong queries and bodies on every route with an envelope or an answer, never with a 500', async () => {
  const gateway = await openTestGateway({ limits: { analytics_per_minute: 100_000 } } as never);
  try {
    const { statuses, defects } = await fuzzRoutes(gateway, runs(700, 2000), 20_261_116);
    expect(defects.slice(0, 3)).toEqual([]);
    expect(Object.keys(statuses)).toEqual(expect.arrayContaining(['200', '400', '404']));
  } finally {
    await gateway.close();
  }
});
