import { describe, expect, it } from 'vitest';
import type { Model } from '../catalog.ts';
import { hintForUnknownModel } from './model-hint.ts';

function served(...ids: string[]): Model[] {
  return ids.map((id) => ({ id }) as Model);
}

describe('the hint for an unknown model', () => {
  it('names the variable that switches on a provider of a catalogued model', () => {
    expect(hintForUnknownModel('openai/gpt-4', served('simulator/standard'))).toMatch(
      /no provider here serves it: set OPENAI_API_KEY \(OpenAI\).* and restart the gateway\.$/,
    );
  });

  it('says how to switch the simulator on', () => {
    expect(hintForUnknownModel('simulator/standard', served('acme/large'))).toContain(
      'add "- slug: simulator"',
    );
  });

  it.each([
    ['a swapped letter', 'acme/lagre', 'acme/large'],
    ['a missing letter', 'acm/large', 'acme/large'],
    ['capital letters', 'Acme/Large', 'acme/large'],
    ['no author', 'tiny', 'other/tiny'],
    ['no author and a missing letter', 'tny', 'other/tiny'],
  ])('suggests the served model that was meant: %s', (_, typed, meant) => {
    expect(hintForUnknownModel(typed, served('acme/large', 'other/tiny'))).toBe(`Did you mean ${meant}?`);
  });

  it.each([
    ['a missing letter in the author', 'opnai/gpt-4.1', 'openai/gpt-4.1', 'OPENAI_API_KEY'],
    ['no author', 'claude-sonnet-4.5', 'anthropic/claude-sonnet-4.5', 'ANTHROPIC_API_KEY'],
    ['no author and a missing hyphen', 'gpt4.1', 'openai/gpt-4.1', 'OPENAI_API_KEY'],
  ])('suggests a model of the catalogue that no provider here serves: %s', (_, typed, meant, variable) => {
    const hint = hintForUnknownModel(typed, served('simulator/standard'));
    expect(hint).toContain(`Did you mean ${meant}? No provider here serves it: set ${variable}`);
  });

  it('is absent if nothing looks alike', () => {
    expect(hintForUnknownModel('zzz/quite-another', served('acme/large', 'other/tiny'))).toBeUndefined();
  });

  it('takes little time in a large catalogue', () => {
    const many = served(
      ...Array.from({ length: 15_000 }, (_, index) => `author-${index % 60}/model-${index}`),
    );
    hintForUnknownModel('warm/up', many);
    const start = performance.now();
    hintForUnknownModel(`author-1/${'x'.repeat(100)}`, many);
    const long = performance.now() - start;
    expect(long).toBeLessThan(500);
  });
});
