import { describe, expect, it } from 'vitest';
import { endpointOf, providerOf } from '../../../test/kit/builders/catalog.ts';
import { buildProvider } from '../../catalog/build-provider.ts';
import type { Credential } from '../../catalog/providers/credential.ts';
import { addressesOf, destinationOf } from './destination.ts';

const at = (baseUrl: string | undefined) => endpointOf({ provider: providerOf({ baseUrl }) });
const ADDRESSED = at('http://h/v1');
const BARE = at(undefined);

const ACCOUNT: Credential = {
  kind: 'google-service-account',
  clientEmail: 'e',
  privateKey: 'p',
  tokenUri: 'https://t',
  projectId: 'acme-prod',
  region: 'global',
};
const AZURE: Credential = {
  kind: 'azure',
  resources: [{ key: 'first', baseUrl: 'https://acme.openai.azure.com/openai/v1' }],
  deployments: [
    {
      key: 'own',
      modelSlug: 'acme/large',
      model: 'dep',
      baseUrl: 'https://d.example/x',
      query: '?api-version=1',
    },
  ],
};

describe('destinationOf', () => {
  it('is the address of the provider and the model of the endpoint', () => {
    const credential: Credential = { kind: 'key', key: 'k' };
    expect(destinationOf(ADDRESSED, credential)).toEqual({
      baseUrl: 'http://h/v1',
      query: '',
      model: 'large-v1',
      credential,
      isNamedByCredential: false,
    });
    expect(destinationOf(ADDRESSED, undefined)?.credential).toBeUndefined();
  });

  it.each<[Credential, string]>([
    [{ kind: 'aws-key', key: 'k', region: 'eu-west-1' }, 'https://bedrock-runtime.eu-west-1.amazonaws.com'],
    [ACCOUNT, 'https://aiplatform.googleapis.com/v1/projects/acme-prod/locations/global/publishers/google'],
    [
      { ...ACCOUNT, region: 'europe-west4' },
      'https://europe-west4-aiplatform.googleapis.com/v1/projects/acme-prod/locations/europe-west4/publishers/google',
    ],
  ])('comes from the credential when the provider has no address', (credential, baseUrl) => {
    expect(destinationOf(BARE, credential)?.baseUrl).toBe(baseUrl);
    expect(destinationOf(ADDRESSED, credential)?.baseUrl).toBe('http://h/v1');
  });

  it('is the deployment of the model, else the resource', () => {
    expect(destinationOf(BARE, AZURE)).toEqual({
      baseUrl: 'https://d.example/x',
      query: '?api-version=1',
      model: 'dep',
      credential: { kind: 'key', key: 'own' },
      isNamedByCredential: true,
    });
    const other = { ...BARE, modelId: 'acme/small' };
    expect(destinationOf(other, AZURE)).toEqual({
      baseUrl: 'https://acme.openai.azure.com/openai/v1',
      query: '',
      model: 'large-v1',
      credential: { kind: 'key', key: 'first' },
      isNamedByCredential: false,
    });
    expect(destinationOf({ ...other, provider: ADDRESSED.provider }, AZURE)?.baseUrl).toBe('http://h/v1');
  });

  it('is nowhere when neither says one', () => {
    expect(destinationOf(BARE, { kind: 'key', key: 'k' })).toBeUndefined();
    expect(destinationOf(BARE, undefined)).toBeUndefined();
    expect(destinationOf({ ...BARE, modelId: 'x' }, { ...AZURE, resources: [] })).toBeUndefined();
  });
});

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
