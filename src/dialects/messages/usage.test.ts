import { describe, expect, it } from 'vitest';
import { UsageMeter } from './usage.ts';

function metered(...usages: object[]) {
  const meter = new UsageMeter();
  usages.forEach((usage, index) => {
    meter.see(usage as never, index === 0 && usages.length > 1);
  });
  return meter.usage();
}

const COMPACTION = {
  type: 'compaction',
  input_tokens: 1000,
  cache_read_input_tokens: 150_000,
  cache_creation_input_tokens: 300,
  cache_creation: { ephemeral_5m_input_tokens: 100, ephemeral_1h_input_tokens: 200 },
  output_tokens: 3500,
};
const MESSAGE = { type: 'message', input_tokens: 23_000, output_tokens: 1000 };
const TOP = { input_tokens: 23_000, output_tokens: 1000 };

describe('passes that usage lists one by one', () => {
  it('are summed, at the end of a stream too', () => {
    const all = { ...TOP, iterations: [COMPACTION, MESSAGE] };
    const summed = {
      inputTokens: 24_000 + 150_000 + 300,
      cachedTokens: 150_000,
      cacheWriteTokens: 100,
      cacheWrite1hTokens: 200,
      outputTokens: 4500,
      source: 'measured',
    };
    expect(metered(all)).toMatchObject(summed);
    expect(metered({ input_tokens: 23_000, output_tokens: 1 }, all)).toMatchObject(summed);
  });

  it('never lower what the top level says', () => {
    const low = { ...MESSAGE, input_tokens: 5, output_tokens: 5 };
    expect(metered({ ...TOP, iterations: [low] })).toEqual(metered(TOP));
    for (const iterations of [null, [], {}, 'x', [null, 7], [{ type: 'message', input_tokens: -1 }]]) {
      expect(metered({ ...TOP, iterations })).toEqual(metered(TOP));
    }
  });

  it('are no measurement where the top level has none', () => {
    expect(metered({ iterations: [COMPACTION] })).toBeUndefined();
  });
});

it('says where tokens were kept', () => {
  expect(metered({ ...TOP, inference_geo: 'us' })).toMatchObject({ isUsOnly: true });
  for (const inference_geo of ['global', 'not_available', null]) {
    expect(metered({ ...TOP, inference_geo })).not.toHaveProperty('isUsOnly');
  }
});
