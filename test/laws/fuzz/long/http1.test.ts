import { expect, it } from 'vitest';
import { mutatedRequests, requestDifferences } from '../http1-requests.ts';
import { mutatedResponses, responseDifferences } from '../http1-responses.ts';

const COUNT = Number(process.env.FUZZ_COUNT ?? 500_000);
const SEED = Number(process.env.FUZZ_SEED ?? Date.now() % 2 ** 31);

it(`accepts none of ${COUNT} mutated requests that Node refuses or frames differently (seed ${SEED})`, async () => {
  expect(await requestDifferences(mutatedRequests(COUNT, SEED))).toEqual([]);
});

it(`accepts none of ${COUNT} mutated responses that Node refuses or frames differently (seed ${SEED})`, async () => {
  expect(await responseDifferences(mutatedResponses(COUNT, SEED))).toEqual([]);
});
