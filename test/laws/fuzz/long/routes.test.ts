import { expect, it } from 'vitest';
import { openTestGateway } from '../../../kit/gateway-harness.ts';
import { fuzzRoutes } from '../routes.ts';

/** How many requests; the seed is the clock's, and printed so that a run can be repeated. */
const COUNT = Number(process.env.FUZZ_COUNT ?? 200_000);
const SEED = Number(process.env.FUZZ_SEED ?? Date.now() % 2 ** 31);

it(`answers ${COUNT} wrong requests on all routes without a 500 (seed ${SEED})`, async () => {
  const gateway = await openTestGateway({ limits: { analytics_per_minute: 1_000_000 } } as never);
  try {
    const { statuses, defects } = await fuzzRoutes(gateway, COUNT, SEED);
    console.log({ seed: SEED, statuses });
    expect(defects.slice(0, 5)).toEqual([]);
  } finally {
    await gateway.close();
  }
});
