import { describe, expect, it } from 'vitest';
import { unsupportedKeyWarnings } from './unsupported-keys.ts';

function warnedPrices(pricing: Record<string, string>): string[] {
  const path = 'models[0].endpoints[0].pricing.';
  return unsupportedKeyWarnings({ models: [{ id: 'a/b', endpoints: [{ provider: 'p', pricing }] }] }).map(
    (issue) => {
      expect(issue.message).toBe('has no effect in this version yet');
      return issue.path.replace(path, '');
    },
  );
}

describe('unsupportedKeyWarnings', () => {
  it('names the prices that nothing is counted for yet, and no other', () => {
    const idle = ['image_token', 'audio', 'audio_output', 'input_audio_cache', 'discount'];
    const charged = ['prompt', 'completion', 'request', 'image', 'image_output', 'internal_reasoning'];
    const pricing = Object.fromEntries([...idle, ...charged].map((name) => [name, '0.1']));
    expect(warnedPrices(pricing).sort()).toEqual([...idle].sort());
  });
});
