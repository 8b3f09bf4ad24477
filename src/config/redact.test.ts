import { describe, expect, it } from 'vitest';
import { KNOWN_PROVIDERS } from '../catalog/providers/known-providers.ts';
import { parseConfig } from './parse/parse-config.ts';
import { redactedConfig, redactedRuntime } from './redact.ts';

const TEXT = `
providers:
  - slug: a
    dialect: openai-chat
    base_url: http://h
    api_key: canary-one-123456
    headers: { x-secret: canary-two-123456, x-short: canary3 }
  - slug: b
    dialect: aws-bedrock
    base_url: http://h
    api_key: '{"accessKeyId":"AK","secretAccessKey":"canary-four","region":"us-east-1"}'
plugins:
  web: { engines: { exa: { api_key: canary-five-1234 }, searxng: { url: "http://u:canary-six@h/?key=canary-seven" } } }
workspaces:
  - slug: team
    keys: [{ name: CI, secret: canary-nine-123456 }]
    byok: [{ provider: openai, api_key: canary-ten-123456 }]
    destinations:
      - type: langfuse
        name: Traces
        config:
          publicKey: canary-twelve-123456
          secretKey: canary-thirteen-3456
          baseUrl: https://traces.example.com/a?key=canary-14-123456
          headers: { x-token: canary-fifteen-3456 }
      - { type: sentry, name: Errors, config: { dsn: 'https://canary-16-3456@s.example.com/1' } }
observability: { otlp: { endpoint: "http://127.0.0.1:4318", headers: { x-token: canary-eleven-123456 } } }
metrics: { token: canary-eight-123456 }
`;

describe('redaction', () => {
  it('leaves no secret in the configuration', () => {
    const reading = parseConfig(TEXT, {}, KNOWN_PROVIDERS);
    if (!reading.ok) throw new Error(JSON.stringify(reading.problems));
    const text = JSON.stringify(redactedConfig(reading.config));
    expect(text).not.toContain('canary');
    expect(text).not.toMatch(/can|3456/);
    expect(redactedConfig(reading.config).providers[0]).toMatchObject({
      api_key: '***(16-to-63-characters)',
      headers: { 'x-secret': '***(16-to-63-characters)', 'x-short': '***(under-16-characters)' },
    });
    expect(redactedConfig(reading.config).providers[1]?.api_key).toBe('***(64-or-more-characters)');
    expect(redactedConfig(reading.config).workspaces[0]?.destinations?.[0]?.config).toEqual({
      publicKey: '***(16-to-63-characters)',
      secretKey: '***(16-to-63-characters)',
      baseUrl: 'https://traces.example.com/a?key=***',
      headers: { 'x-token': '***(16-to-63-characters)' },
    });
    expect(reading.config.providers[0]?.api_key).toBe('canary-one-123456');
  });

  it('leaves no secret in what comes from the environment', () => {
    const text = JSON.stringify(
      redactedRuntime({
        host: 'h',
        port: 1,
        dataDir: '/d',
        logLevel: 'info',
        workers: 1,
        mayMigrate: false,
        managementKey: 'canary-management',
        apiKey: 'canary-api-key-1',
        encryptionKey: 'canary-encryption-key',
        database: {
          host: 'db',
          port: 5432,
          database: 'x',
          user: 'user',
          password: 'canary',
          tls: 'prefer',
        },
        clickhouse: { origin: 'http://ch:8123', database: 'y', user: 'user', password: 'canary' },
      }),
    );
    expect(text).not.toContain('canary');
    expect(text).toContain('postgres://user:***@db:5432/x');
    expect(text).toContain('http://user:***@ch:8123/y');
  });
});
