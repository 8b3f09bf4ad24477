import { describe, expect, it } from 'vitest';
import { buildProvider } from '../build-provider.ts';
import { type Served, unknownModelMessage } from './model-hint.ts';

function served(...ids: string[]): Served {
  return { models: ids.map((id) => ({ id })), providers: [] };
}

/** The message without the id that it begins with. */
function messageFor(id: string, where: Served): string {
  const message = unknownModelMessage(id, id, where);
  expect(message.startsWith(`${id} `)).toBe(true);
  return message.slice(id.length + 1);
}

const INVALID = 'is not a valid model ID';

describe('the message for a model that is not served', () => {
  it('names the variable that switches on a provider of a catalogued model', () => {
    expect(messageFor('openai/gpt-4', served('simulator/standard'))).toMatch(
      /^has no provider yet: add a key of OpenAI, without a restart, under Providers in the console or by signalbox providers add openai; or set OPENAI_API_KEY \(OpenAI\).* and restart the gateway\.$/,
    );
  });

  it('names the author of a model first, also for an alias', () => {
    expect(messageFor('gpt-5', served('simulator/standard'))).toMatch(
      /^has no provider yet: add a key of OpenAI, /,
    );
  });

  it.each([
    ['its id', 'openai/gpt-4', 'has no provider yet'],
    [
      'its name without the author',
      'gpt4.1',
      `${INVALID}. Did you mean openai/gpt-4.1? It has no provider yet`,
    ],
  ])('says to list a catalogued model whose provider has an own address, by %s', (_, typed, begin) => {
    const proxy = buildProvider({ slug: 'openai', base_url: 'http://127.0.0.1:9/v1', api_key: 'k' });
    expect(messageFor(typed, { models: [], providers: [proxy] })).toBe(
      `${begin}: list the model in the configuration, because openai has an address of your own there.`,
    );
  });

  it('names the variable of a listed provider that is called at its public address', () => {
    const listed = buildProvider({ slug: 'openai' });
    expect(messageFor('openai/gpt-4', { models: [], providers: [listed] })).toContain('set OPENAI_API_KEY');
  });

  it('says how to switch the simulator on', () => {
    expect(messageFor('simulator/standard', served('acme/large'))).toContain('Add "- slug: simulator"');
  });

  it.each([
    ['a swapped letter', 'acme/lagre', 'acme/large'],
    ['a missing letter', 'acm/large', 'acme/large'],
    ['capital letters', 'Acme/Large', 'acme/large'],
    ['no author', 'tiny', 'other/tiny'],
    ['no author and a missing letter', 'tny', 'other/tiny'],
  ])('suggests the served model that was meant: %s', (_, typed, meant) => {
    expect(messageFor(typed, served('acme/large', 'other/tiny'))).toBe(`${INVALID}. Did you mean ${meant}?`);
  });

  it.each([
    ['a missing letter in the author', 'opnai/gpt-4.1', 'openai/gpt-4.1', 'OpenAI'],
    ['no author', 'claude-sonnet-4.5', 'anthropic/claude-sonnet-4.5', 'Anthropic'],
    ['no author and a missing hyphen', 'gpt4.1', 'openai/gpt-4.1', 'OpenAI'],
  ])('suggests a model of the catalogue that no provider here serves: %s', (_, typed, meant, name) => {
    const hint = messageFor(typed, served('simulator/standard'));
    expect(hint).toContain(
      `${INVALID}. Did you mean ${meant}? It has no provider yet: add a key of ${name}, `,
    );
  });

  it('gives no hint if nothing looks alike', () => {
    expect(messageFor('zzz/quite-another', served('acme/large', 'other/tiny'))).toBe(INVALID);
  });

  it('takes little time in a large catalogue', () => {
    const many = served(
      ...Array.from({ length: 15_000 }, (_, index) => `author-${index % 60}/model-${index}`),
    );
    unknownModelMessage('warm/up', 'warm/up', many);
    const long = `author-1/${'x'.repeat(100)}`;
    const start = performance.now();
    unknownModelMessage(long, long, many);
    const took = performance.now() - start;
    expect(took).toBeLessThan(500);
  });
});
