import { expect, it } from 'vitest';
import { killAndCompare } from '../faults/killed-gateway.ts';

it('loses nothing that it acknowledged, settles nothing twice and leaves nothing open when it is killed', async () => {
  // On a busy machine a start takes longer than the five seconds that the long run asks for.
  expect(await killAndCompare(2)).toBeLessThan(30_000);
}, 120_000);
