import { expect, it } from 'vitest';
import type { ProviderEntry } from '../../catalog/entries.ts';
import { providerNeeds } from './provider-needs.ts';

const LISTED: readonly ProviderEntry[] = [
  { slug: 'anthropic', api_key: 'k' },
  { slug: 'openai' },
  { slug: 'groq', base_url: 'https://proxy.example/v1', api_key: 'k' },
  { slug: 'mistral', base_url: 'https://proxy.example/v1' },
  { slug: 'workshop', dialect: 'openai-chat', base_url: 'http://127.0.0.1:9/v1' },
  // Its address was a variable that is not set.
  { slug: 'attic', dialect: 'openai-chat' },
  { slug: 'simulator', base_url: 'simulator://chat' },
];

it.each<[what: string, slug: string, isOwn: boolean, needs: string | undefined]>([
  ['a provider with a key', 'anthropic', false, undefined],
  ['a listed provider without a key', 'openai', false, 'set OPENAI_API_KEY'],
  ['a provider that is not listed', 'deepseek', false, 'set DEEPSEEK_API_KEY'],
  ['one with several variables', 'azure', false, 'set AZURE_OPENAI_API_KEY and AZURE_RESOURCE_NAME'],
  ['a model of the file at an address of its own', 'groq', true, undefined],
  [
    'a known model at an address of its own',
    'groq',
    false,
    'list the model in the configuration, because groq has an address of your own there',
  ],
  ['a public address without a key', 'mistral', true, 'give mistral an api_key in the configuration'],
  ['a private address without a key', 'workshop', true, undefined],
  ['no address', 'attic', true, 'give attic a base_url in the configuration'],
  ['the simulator', 'simulator', false, undefined],
  ['a provider without a variable', 'akashml', false, 'list akashml in providers of the configuration'],
])('says what %s needs', (_, slug, isOwn, needs) => {
  const providers = new Map(LISTED.map((entry) => [entry.slug, entry]));
  expect(providerNeeds(slug, providers, isOwn)).toBe(needs);
});
