import { expect, it } from 'vitest';
import { runs } from '../../kit/builders/runs.ts';
import { openTestGateway } from '../../kit/gateway-harness.ts';
import { fuzzBodies } from './bodies.ts';

it('answers mutated bodies with an envelope or an answer, never with a 500', async () => {
  const gateway = await openTestGateway();
  try {
    const { statuses, defects } = await fuzzBodies(gateway, runs(500, 1500), 20_261_115);
    expect(defects.slice(0, 3)).toEqual([]);
    expect(Object.keys(statuses)).toEqual(expect.arrayContaining(['200', '400']));
  } finally {
    await gateway.close();
  }
});
