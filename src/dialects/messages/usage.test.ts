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

  it('of models that declined before a fallback are not counted, and the model that answered is named', () => {
    const iterations = [
      { type: 'message', model: 'a', input_tokens: 408, output_tokens: 3 },
      { type: 'fallback_message', model: 'b', input_tokens: 412, output_tokens: 264 },
    ];
    expect(metered({ input_tokens: 412, output_tokens: 264, iterations })).toMatchObject({
      inputTokens: 412,
      outputTokens: 264,
      servedModel: 'b',
    });
  });

  it('of an advisor are counted apart, with its model', () => {
    const advice = { type: 'advisor_message', model: 'wise', input_tokens: 5000, output_tokens: 500 };
    const iterations = [{ type: 'message', input_tokens: 100, output_tokens: 10 }, advice];
    const usage = metered({ input_tokens: 100, output_tokens: 10, iterations });
    expect(usage).toMatchObject({ inputTokens: 100, outputTokens: 10 });
    expect(usage?.others).toMatchObject([{ model: 'wise', usage: { inputTokens: 5000, outputTokens: 500 } }]);
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
