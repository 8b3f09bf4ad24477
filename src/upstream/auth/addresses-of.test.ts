import { expect, it } from 'vitest';
import { buildProvider } from '../../catalog/build-provider.ts';
import { addressesOf } from './addresses-of.ts';

const addresses = (entry: Parameters<typeof buildProvider>[0]) => addressesOf(buildProvider(entry));

it('names the address of the file, of the table, of a credential, or none', () => {
  const own = { slug: 'acme', dialect: 'openai-chat', base_url: 'http://h/v1' } as const;
  expect(addresses(own)).toEqual(['http://h/v1']);
  expect(addresses({ slug: 'openai' })).toEqual(['https://api.openai.com/v1']);
  expect(addresses({ slug: 'simulator', dialect: 'simulator' })).toEqual([]);
  expect(addresses({ slug: 'azure' })).toEqual([]);
  const apiKey = JSON.stringify([
    { api_key: 'k', resource_name: 'house' },
    { model_slug: 'a/b', endpoint_url: 'https://one.example/x', api_key: 'k', model_id: 'm' },
  ]);
  const azure = addresses({ slug: 'azure', api_key: apiKey });
  expect(azure).toHaveLength(2);
  expect(azure.map((address) => new URL(address).host)).toEqual([
    expect.stringContaining('house'),
    'one.example',
  ]);
});
