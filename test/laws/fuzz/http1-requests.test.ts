import { expect, it } from 'vitest';
import {
  GOOD_REQUESTS,
  mutatedRequests,
  REQUEST_CLASSES,
  readRequests,
  requestDifferences,
} from './http1-requests.ts';

it('reads good requests as Node does', async () => {
  for (const text of GOOD_REQUESTS) {
    for (const pieces of [[text], [text.slice(0, 20), text.slice(20)]]) {
      const { ours, node } = await readRequests(pieces);
      expect([text, ours]).toEqual([text, node]);
      expect(ours.length).toBeGreaterThan(0);
    }
  }
});

it.each(Object.keys(REQUEST_CLASSES))(
  'accepts no request that Node refuses or frames differently: %s',
  async (name) => {
    const cases = REQUEST_CLASSES[name] ?? [];
    expect(await requestDifferences(cases.map((text) => [text]))).toEqual([]);
  },
);

it('accepts no mutation that Node refuses or frames differently', async () => {
  expect(await requestDifferences(mutatedRequests(3_000, 20))).toEqual([]);
});
