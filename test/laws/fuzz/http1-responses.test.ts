import { expect, it } from 'vitest';
import {
  GOOD_RESPONSES,
  mutatedResponses,
  RESPONSE_CLASSES,
  readResponse,
  responseDifferences,
} from './http1-responses.ts';

it('reads good responses as Node does', async () => {
  for (const text of GOOD_RESPONSES) {
    for (const pieces of [[text], [text.slice(0, 20), text.slice(20)], [...text]]) {
      const { ours, node } = await readResponse(pieces);
      expect([text, ours]).toEqual([text, node]);
      expect(ours).toBeDefined();
    }
  }
});

it.each(Object.keys(RESPONSE_CLASSES))(
  'accepts no response that Node refuses or frames differently: %s',
  async (name) => {
    const cases = RESPONSE_CLASSES[name] ?? [];
    expect(await responseDifferences(cases.map((text) => [text]))).toEqual([]);
  },
);

it('accepts no mutation that Node refuses or frames differently', async () => {
  expect(await responseDifferences(mutatedResponses(3_000, 20))).toEqual([]);
});
