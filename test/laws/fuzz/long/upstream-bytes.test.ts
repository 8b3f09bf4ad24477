import { expect, it } from 'vitest';
import { fuzzUpstreamBytes } from '../upstream-bytes.ts';

const COUNT = Number(process.env.FUZZ_COUNT ?? 500_000);
const SEED = Number(process.env.FUZZ_SEED ?? Date.now() % 2 ** 31);

it(`reads ${COUNT} damaged upstream streams without throwing (seed ${SEED})`, () => {
  const { terminals } = fuzzUpstreamBytes(COUNT, SEED);
  console.log({ seed: SEED, terminals });
  expect((terminals.finish ?? 0) + (terminals.failure ?? 0)).toBe(COUNT);
});
