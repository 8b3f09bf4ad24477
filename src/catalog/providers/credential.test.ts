import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { type Credential, parseCredential, secretsOf } from './credential.ts';
import type { Auth } from './provider-members.ts';

const { privateKey: KEY } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const PEM = KEY.export({ type: 'pkcs8', format: 'pem' }).toString();

const ACCOUNT = {
  type: 'service_account',
  project_id: 'acme-prod',
  private_key_id: 'canary-key-id',
  private_key: PEM,
  client_email: 'gateway@acme-prod.iam.gserviceaccount.com',
  token_uri: 'https://oauth2.googleapis.com/token',
};
const ACCESS_KEY = { accessKeyId: 'AKIACANARY', secretAccessKey: 'canary-secret', region: 'eu-west-1' };
const DEPLOYMENT = {
  model_slug: 'openai/gpt-5',
  endpoint_url:
    'https://acme.openai.azure.com/openai/deployments/five/chat/completions?api-version=2025-01-01',
  api_key: 'canary-deployment',
  model_id: 'five',
};

function read(auth: Auth, value: unknown): Credential {
  const reading = parseCredential(auth, typeof value === 'string' ? value : JSON.stringify(value));
  if (!reading.ok) throw new Error(reading.problem);
  return reading.credential;
}

function problemOf(auth: Auth, value: unknown): string | undefined {
  const reading = parseCredential(auth, typeof value === 'string' ? value : JSON.stringify(value));
  return reading.ok ? undefined : reading.problem;
}

describe('parseCredential', () => {
  it('takes a plain key wherever one is taken', () => {
    for (const auth of ['bearer', 'x-api-key', 'google', 'azure'] as const) {
      expect(read(auth, ' sk-1\n')).toEqual({ kind: 'key', key: 'sk-1' });
    }
    expect(read('aws', 'ABSK-1')).toEqual({ kind: 'aws-key', key: 'ABSK-1', region: 'us-east-1' });
  });

  it('reads the two JSON forms of Bedrock', () => {
    expect(read('aws', { apiKey: 'ABSK-1', region: 'us-west-2' })).toMatchObject({ region: 'us-west-2' });
    expect(read('aws', { ...ACCESS_KEY, sessionToken: null })).toEqual({
      kind: 'aws-access-key',
      ...ACCESS_KEY,
    });
    expect(read('aws', { ...ACCESS_KEY, sessionToken: 't' })).toMatchObject({ sessionToken: 't' });
  });

  it('reads resources and deployments of Azure, mixed, and one alone', () => {
    const resource = { api_key: 'k1', resource_name: 'Acme' };
    expect(read('azure', [resource, { ...resource, resource_type: 'ai_foundry' }, DEPLOYMENT])).toEqual({
      kind: 'azure',
      resources: [
        { key: 'k1', baseUrl: 'https://acme.openai.azure.com/openai/v1' },
        { key: 'k1', baseUrl: 'https://acme.services.ai.azure.com/openai/v1' },
      ],
      deployments: [
        {
          key: 'canary-deployment',
          modelSlug: 'openai/gpt-5',
          model: 'five',
          baseUrl: 'https://acme.openai.azure.com/openai/deployments/five',
          query: '?api-version=2025-01-01',
        },
      ],
    });
    expect(read('azure', resource)).toMatchObject({ resources: [{ key: 'k1' }], deployments: [] });
  });

  it('reads a service account, with or without a region', () => {
    expect(read('google', ACCOUNT)).toMatchObject({
      kind: 'google-service-account',
      projectId: 'acme-prod',
      region: 'global',
      tokenUri: 'https://oauth2.googleapis.com/token',
    });
    expect(read('google', { ...ACCOUNT, region: 'europe-west4', bucket: 'b' })).toMatchObject({
      region: 'europe-west4',
    });
  });

  it.each<[Auth, unknown, string]>([
    ['bearer', 'a b', 'holds a character that cannot be sent in a header'],
    ['bearer', { api_key: 'canary' }, 'must be a plain key'],
    ['aws', '{"accessKeyId": canary', 'is not valid JSON'],
    ['aws', { accessKeyId: 'canary', region: 'us-east-1' }, 'secretAccessKey is required'],
    ['aws', { ...ACCESS_KEY, region: 'us-east-1.evil.example/' }, 'region must be a region'],
    ['aws', { apiKey: 'canary' }, 'region is required'],
    ['aws', [], 'must be an object'],
    ['azure', [], 'is an empty list'],
    ['azure', [{ api_key: 'canary' }], '[0].resource_name is required'],
    [
      'azure',
      [DEPLOYMENT, { api_key: 'canary', resource_name: 'a.b' }],
      '[1].resource_name must be the name',
    ],
    [
      'azure',
      [{ api_key: 'canary', resource_name: 'a', resource_type: 'x' }],
      '[0].resource_type must be one of',
    ],
    [
      'azure',
      [{ ...DEPLOYMENT, endpoint_url: 'http://canary.example/' }],
      '[0].endpoint_url must be an address',
    ],
    ['azure', ['canary'], '[0] must be an object'],
    ['google', { ...ACCOUNT, private_key: 'canary' }, 'private_key is not a private key in PEM'],
    ['google', { ...ACCOUNT, token_uri: 'http://canary.example/token' }, 'token_uri must be an address'],
    ['google', { ...ACCOUNT, token_uri: 'https://u:canary@h/' }, 'token_uri must be an address'],
    ['google', { ...ACCOUNT, region: 'x/../y' }, 'region must be a region'],
    ['google', { ...ACCOUNT, project_id: 'a/b' }, 'project_id must be the id'],
    ['google', { type: 'authorized_user' }, 'client_email is required'],
  ])('%s refuses %j', (auth, value, problem) => {
    const found = problemOf(auth, value);
    expect(found).toContain(problem);
    expect(found?.toLowerCase()).not.toContain('canary');
  });
});

describe('secretsOf', () => {
  it('names every part that must not be seen', () => {
    expect(secretsOf(read('bearer', 'sk-1'))).toEqual(['sk-1']);
    expect(secretsOf(read('azure', [{ api_key: 'k1', resource_name: 'a' }, DEPLOYMENT]))).toEqual([
      'k1',
      'canary-deployment',
    ]);
    expect(secretsOf(read('aws', { ...ACCESS_KEY, sessionToken: 'session' }))).toEqual([
      'canary-secret',
      'AKIACANARY',
      'session',
    ]);
    expect(secretsOf(read('google', ACCOUNT))).toEqual(
      expect.arrayContaining([PEM, 'canary-key-id', ACCOUNT.client_email, 'acme-prod']),
    );
  });
});
