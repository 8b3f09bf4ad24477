import { describe, expect, it } from 'vitest';
import { buildProvider } from '../build-provider.ts';
import { hintForUnknownModel, type Served } from './model-hint.ts';

function served(...ids: string[]): Served {
  return { models: ids.map((id) => ({ id })), providers: [] };
}

describe('the hint for an unknown model', () => {
  it('names the variable that switches on a provider of a catalogued model', () => {
    expect(hintForUnknownModel('openai/gpt-4', served('simulator/standard'))).toMatch(
      /no provider here serves it: set OPENAI_API_KEY \(OpenAI\).* and restart the gateway\.$/,
    );
  });

  it.each([
    ['its id', 'openai/gpt-4', 'The catalogue knows it, but no provider here serves it'],
    ['its name without the author', 'gpt4.1', 'Did you mean openai/gpt-4.1? No provider here serves it'],
  ])('says to list a catalogued model whose provider has an own address, by %s', (_, typed, begin) => {
    const proxy = buildProvider({ slug: 'openai', base_url: 'http://127.0.0.1:9/v1', api_key: 'k' });
    expect(hintForUnknownModel(typed, { models: [], providers: [proxy] })).toBe(
      `${begin}: list the model in the configuration, because openai has an address of your own there.`,
    );
  });

  it('names the variable of a listed provider that is called at its public address', () => {
    const listed = buildProvider({ slug: 'openai' });
    expect(hintForUnknownModel('openai/gpt-4', { models: [], providers: [listed] })).toContain(
      'set OPENAI_API_KEY',
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
