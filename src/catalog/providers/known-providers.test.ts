import { describe, expect, it } from 'vitest';
import type { Environment } from '../../config/parse/environment.ts';
import type { ProviderConfig } from '../../config/parse/known-providers.ts';
import { buildProvider } from '../build-provider.ts';
import { KNOWN_PROVIDERS } from './known-providers.ts';

function provider(changes: Partial<ProviderConfig> & { slug: string }): ProviderConfig {
  const timeouts = { connect: 1, first_byte: 1, idle: 1, total: 1 };
  return { headers: {}, timeouts_ms: timeouts, ...changes };
}

function issuesOf(changes: Partial<ProviderConfig> & { slug: string }): string[] {
  return KNOWN_PROVIDERS.issuesOf(provider(changes)).map(({ path, message }) => `${path}: ${message}`);
}

function complete(environment: Environment, ...listed: ProviderConfig[]) {
  return KNOWN_PROVIDERS.complete(listed, environment);
}

describe('what a listed provider must say', () => {
  it('nothing but the name, where everything is known', () => {
    expect(issuesOf({ slug: 'openai' })).toEqual([]);
    expect(issuesOf({ slug: 'simulator' })).toEqual([]);
    expect(issuesOf({ slug: 'amazon-bedrock', api_key: 'ABSK' })).toEqual([]);
  });

  it('dialect and address of an unknown provider, and of one known by name only', () => {
    expect(issuesOf({ slug: 'constructor' })).toEqual([
      'dialect: is required: the provider is not in the built-in table',
      'base_url: is required: the provider is not in the built-in table',
    ]);
    expect(issuesOf({ slug: 'tenstorrent' })).toEqual([
      'dialect: is required: the built-in table knows Tenstorrent by name only',
      'base_url: is required: the built-in table knows Tenstorrent by name only',
    ]);
    const own = { slug: 'tenstorrent', dialect: 'openai-chat', base_url: 'http://h' } as const;
    expect(issuesOf(own)).toEqual([]);
    expect(buildProvider(own)).toMatchObject({ name: 'Tenstorrent', isPublic: false });
  });

  it('the address, where the account decides it', () => {
    expect(issuesOf({ slug: 'cloudflare' })).toEqual([
      'base_url: is required: the address depends on your account, for example https://api.cloudflare.com/client/v4/accounts/ACCOUNT/ai/v1',
    ]);
    expect(issuesOf({ slug: 'cloudflare', base_url: 'http://h' })).toEqual([]);
  });

  it('a credential that says the address, or the address', () => {
    expect(issuesOf({ slug: 'azure' })).toEqual(['api_key: is required: it says which address to call']);
    expect(issuesOf({ slug: 'azure', api_key: 'plain' })).toEqual([
      'api_key: must be JSON that says which address to call, or give a base_url',
    ]);
    expect(issuesOf({ slug: 'azure', api_key: 'plain', base_url: 'http://h' })).toEqual([]);
    expect(issuesOf({ slug: 'azure', api_key: '[{"api_key":"k","resource_name":"acme"}]' })).toEqual([]);
    expect(issuesOf({ slug: 'google-vertex', api_key: '{}' })).toEqual(['api_key: client_email is required']);
  });

  it('nothing of another dialect', () => {
    const takes = { system_turns: true };
    const own = { slug: 'mine', base_url: 'http://h', takes } as const;
    expect(issuesOf({ ...own, dialect: 'openai-chat' })).toEqual([
      'takes: has no effect for openai-chat: it is of anthropic-messages',
    ]);
    expect(issuesOf({ slug: 'openai', takes })).toEqual([
      'takes: has no effect for openai-responses: it is of anthropic-messages',
    ]);
    expect(issuesOf({ ...own, dialect: 'anthropic-messages' })).toEqual([]);
    expect(issuesOf({ slug: 'anthropic', takes })).toEqual([]);
  });

  it('a credential that fits, also without a row', () => {
    const own = { slug: 'mine', dialect: 'aws-bedrock', base_url: 'http://h' } as const;
    expect(issuesOf({ ...own, api_key: '{"accessKeyId":"a"}' })).toEqual([
      'api_key: secretAccessKey is required',
    ]);
    expect(issuesOf({ slug: 'openai', api_key: '{"a":1}' })).toHaveLength(1);
  });

  it('by its name alone only what has an address', () => {
    expect(KNOWN_PROVIDERS.has('openai')).toBe(true);
    expect(KNOWN_PROVIDERS.has('azure')).toBe(false);
    expect(KNOWN_PROVIDERS.has('tenstorrent')).toBe(false);
    expect(KNOWN_PROVIDERS.has('toString')).toBe(false);
  });
});

describe('keys of the environment', () => {
  it('switch providers on, with the simulator while the file names none', () => {
    const { providers, keys } = complete({ GEMINI_API_KEY: 'g', GROQ_API_KEY: 'q', MISTRAL_API_KEY: '' });
    expect(providers.map(({ slug, api_key }) => [slug, api_key])).toEqual([
      ['google-ai-studio', 'g'],
      ['groq', 'q'],
      ['simulator', undefined],
    ]);
    expect(keys).toEqual([
      { slug: 'google-ai-studio', variables: ['GEMINI_API_KEY'], switchesOn: true },
      { slug: 'groq', variables: ['GROQ_API_KEY'], switchesOn: true },
    ]);
    expect(providers.map((entry) => buildProvider(entry).isPublic)).toEqual([true, true, true]);
  });

  it('leave an installation without any to the simulator', () => {
    const { providers, warnings } = complete({ PATH: '/bin' });
    expect(providers.map(({ slug }) => slug)).toEqual(['simulator']);
    expect(warnings).toEqual([]);
  });

  it('join the providers of the file, and are the keys of those listed without one', () => {
    const own = provider({ slug: 'acme', dialect: 'openai-chat', base_url: 'http://h' });
    const { providers, keys } = complete(
      { OPENAI_API_KEY: 'o', ANTHROPIC_API_KEY: 'a', XAI_API_KEY: 'x' },
      own,
      provider({ slug: 'openai' }),
      provider({ slug: 'anthropic', api_key: 'mine' }),
    );
    expect(providers.map(({ slug, api_key }) => [slug, api_key])).toEqual([
      ['acme', undefined],
      ['openai', 'o'],
      ['anthropic', 'mine'],
      ['xai', 'x'],
    ]);
    expect(keys).toEqual([
      { slug: 'openai', variables: ['OPENAI_API_KEY'], switchesOn: false },
      { slug: 'xai', variables: ['XAI_API_KEY'], switchesOn: true },
    ]);
  });

  it('go nowhere but to the address they are for', () => {
    const { providers, warnings } = complete(
      { OPENAI_API_KEY: 'canary', CLOUDFLARE_API_TOKEN: 'c' },
      provider({ slug: 'openai', base_url: 'http://h/v1' }),
      provider({ slug: 'cloudflare', base_url: 'http://h/v1' }),
    );
    expect(providers.map(({ api_key }) => api_key)).toEqual([undefined, 'c']);
    expect(warnings).toMatchObject([{ path: 'OPENAI_API_KEY' }]);
    expect(JSON.stringify(warnings)).not.toContain('canary');
    const alone = complete({ CLOUDFLARE_API_TOKEN: 'c' });
    expect(alone.providers.map(({ slug }) => slug)).toEqual(['simulator']);
    expect(alone.warnings).toEqual([
      {
        path: 'CLOUDFLARE_API_TOKEN',
        message: expect.stringMatching(/^is not used: list cloudflare with a base_url; the address depends/),
      },
    ]);
  });

  it.each<[Environment, string, object | string]>([
    [
      { AWS_ACCESS_KEY_ID: 'i', AWS_SECRET_ACCESS_KEY: 's', AWS_REGION: 'eu-west-1' },
      'amazon-bedrock',
      { accessKeyId: 'i', secretAccessKey: 's', region: 'eu-west-1' },
    ],
    [
      { AWS_ACCESS_KEY_ID: 'i', AWS_SECRET_ACCESS_KEY: 's', AWS_SESSION_TOKEN: 't', AWS_REGION: 'eu-west-1' },
      'amazon-bedrock',
      { accessKeyId: 'i', secretAccessKey: 's', sessionToken: 't', region: 'eu-west-1' },
    ],
    [
      { AWS_BEARER_TOKEN_BEDROCK: 'b', AWS_REGION: 'eu-west-1', AWS_ACCESS_KEY_ID: 'i' },
      'amazon-bedrock',
      { apiKey: 'b', region: 'eu-west-1' },
    ],
    [{ AWS_BEARER_TOKEN_BEDROCK: 'b' }, 'amazon-bedrock', 'b'],
    [
      { AZURE_OPENAI_API_KEY: 'k', AZURE_RESOURCE_NAME: 'acme' },
      'azure',
      { api_key: 'k', resource_name: 'acme' },
    ],
  ])('are put together from %j', (environment, slug, expected) => {
    const [first] = complete(environment).providers;
    expect(first?.slug).toBe(slug);
    const text = first?.api_key ?? '';
    expect(typeof expected === 'string' ? text : JSON.parse(text)).toEqual(expected);
  });

  it.each<[Environment, string, string, string]>([
    [{ AWS_ACCESS_KEY_ID: 'canary' }, 'AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY and AWS_REGION', 'amazon-'],
    [
      { AWS_ACCESS_KEY_ID: 'canary', AWS_SECRET_ACCESS_KEY: 'canary', AWS_SESSION_TOKEN: 'canary' },
      'AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY',
      'AWS_REGION',
      'amazon-bedrock',
    ],
    [
      { AWS_SECRET_ACCESS_KEY: 'canary', AWS_REGION: 'x' },
      'AWS_SECRET_ACCESS_KEY',
      'AWS_ACCESS_KEY_ID',
      'amazon-',
    ],
    [{ AZURE_API_KEY: 'canary' }, 'AZURE_API_KEY', 'AZURE_RESOURCE_NAME', 'azure'],
    [{ AZURE_OPENAI_API_KEY: 'canary' }, 'AZURE_OPENAI_API_KEY', 'AZURE_RESOURCE_NAME', 'azure'],
  ])('switch nothing on when a part is missing, and say which: %j', (environment, path, missing, slug) => {
    const { providers, warnings } = complete(environment);
    expect(providers.map((entry) => entry.slug)).toEqual(['simulator']);
    expect(warnings).toHaveLength(1);
    expect(warnings[0]?.path).toContain(path);
    const verb = warnings[0]?.path.includes(', ') ? 'are' : 'is';
    const pronoun = missing.includes(' and ') ? 'those' : 'that';
    expect(warnings[0]?.message).toContain(
      `${verb} not used without ${missing}: set ${pronoun} too, or give ${slug}`,
    );
    expect(JSON.stringify(warnings)).not.toContain('canary');
  });

  it('say nothing of places alone, of whole credentials, and of providers that have their key', () => {
    expect(complete({ AWS_REGION: 'x', AZURE_RESOURCE_NAME: 'y' }).warnings).toEqual([]);
    expect(complete({ AWS_BEARER_TOKEN_BEDROCK: 'b', AWS_ACCESS_KEY_ID: 'i' }).warnings).toEqual([]);
    const listed = provider({ slug: 'amazon-bedrock', api_key: 'ABSK' });
    expect(complete({ AWS_ACCESS_KEY_ID: 'i' }, listed).warnings).toEqual([]);
    const keyless = provider({ slug: 'amazon-bedrock' });
    expect(complete({ AWS_ACCESS_KEY_ID: 'i' }, keyless).warnings).toHaveLength(1);
  });

  it('give the region to a plain key of the file', () => {
    const listed = provider({ slug: 'amazon-bedrock', api_key: 'ABSK' });
    expect(complete({ AWS_REGION: 'eu-west-1' }, listed).providers[0]?.api_key).toBe(
      '{"apiKey":"ABSK","region":"eu-west-1"}',
    );
    expect(complete({}, listed).providers[0]?.api_key).toBe('ABSK');
  });

  it('that cannot be used are a problem only for providers of the file', () => {
    const environment = { GOOGLE_VERTEX_CREDENTIALS: '{"type":"canary"}', GROQ_API_KEY: 'can ary' };
    const unasked = complete(environment);
    expect(unasked.providers.map(({ slug }) => slug)).toEqual(['simulator']);
    expect(unasked.warnings).toEqual([
      {
        path: 'GOOGLE_VERTEX_CREDENTIALS',
        message: 'client_email is required; google-vertex is not switched on',
      },
      {
        path: 'GROQ_API_KEY',
        message: 'holds a character that cannot be sent in a header; groq is not switched on',
      },
    ]);
    expect(complete(environment, provider({ slug: 'google-vertex' })).problems).toEqual([
      {
        path: 'providers[0].api_key',
        message: 'comes from GOOGLE_VERTEX_CREDENTIALS: client_email is required',
      },
    ]);
  });
});

describe('data policies', () => {
  it('of the table hold at its own address only', () => {
    expect(buildProvider({ slug: 'openai' }).dataPolicy).toEqual({ training: false, retainsPrompts: true });
    expect(buildProvider({ slug: 'openai', base_url: 'http://h' }).dataPolicy).toBeUndefined();
    const given = { training: false, retains_prompts: false };
    expect(buildProvider({ slug: 'openai', data_policy: given }).dataPolicy).toEqual({
      training: false,
      retainsPrompts: false,
    });
  });
});

describe('what a provider takes of the messages dialect', () => {
  const quirksOf = (slug: string, takes?: ProviderConfig['takes']) => {
    const { takesSystemTurns = false, takesCallersVersion = false } = buildProvider({
      slug,
      dialect: 'anthropic-messages',
      base_url: 'http://h',
      takes: takes ?? null,
    }).quirks;
    return [takesSystemTurns, takesCallersVersion];
  };

  it('is what the configuration says, else what the table says', () => {
    expect(quirksOf('mine')).toEqual([false, false]);
    expect(quirksOf('mine', { system_turns: true })).toEqual([true, false]);
    expect(quirksOf('mine', { callers_version: true })).toEqual([false, true]);
    expect(quirksOf('anthropic')).toEqual([true, true]);
    expect(quirksOf('anthropic', { callers_version: false })).toEqual([true, false]);
    expect(quirksOf('anthropic', null)).toEqual([true, true]);
  });
});
