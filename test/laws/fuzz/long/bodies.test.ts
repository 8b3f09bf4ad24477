import { expect, it } from 'vitest';
import { openTestGateway } from '../../../kit/gateway-harness.ts';
import { fuzzBodies } from '../bodies.ts';

/** How many bodies; the seed is the clock's, and printed so that a run can be repeated. */
const COUNT = Number(process.env.FUZZ_COUNT ?? 200_000);
const SEED = Number(process.env.FUZZ_SEED ?? Date.now() % 2 ** 31);

it(`answers ${COUNT} mutated bodies without a 500 (seed ${SEED})`, async () => {
  const gateway = await openTestGateway();
  try {
    const { statuses, defects } = await fuzzBodies(gateway, COUNT, SEED);
    console.log({ seed: SEED, statuses });
    expect(defects.slice(0, 5)).toEqual([]);
  } finally {
    await gateway.close();
  }
});
