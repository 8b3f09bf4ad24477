import { describe, expect, it } from 'vitest';
import {
  changedConfig,
  configIssues,
  joinConfig,
  labelsOf,
  leadToSameServer,
  shownConfig,
  splitConfig,
} from './destination-config.ts';

const anywhere = () => undefined;

describe('configIssues', () => {
  const issues = (config: unknown, type = 'otel-collector') => configIssues(type, config, anywhere);
  const collector = { endpoint: 'https://collector.example.com' };

  it.each([
    ['not an object', [], 'config', 'must be an object'],
    ['an unknown member', { ...collector, apiKey: 'x' }, 'config.apiKey', 'is not a known field'],
    ['a name with a blank', { ...collector, 'a b': 'x' }, 'config["a b"]', 'is not a known field'],
    [
      'a wrong kind',
      { endpoint: 7 },
      'config.endpoint',
      'must be an http or https address without user name, password, query and fragment, of at most 2048 characters',
    ],
    [
      'a user',
      { endpoint: 'https://me:secret@x.example.com' },
      'config.endpoint',
      'must be an http or https address without user name, password, query and fragment, of at most 2048 characters',
    ],
    [
      'another scheme',
      { endpoint: 'ftp://x.example.com' },
      'config.endpoint',
      'must be an http or https address without user name, password, query and fragment, of at most 2048 characters',
    ],
    ['no address at all', { endpoint: 'https://[::' }, 'config.endpoint', 'must be an http or https address'],
    [
      'a line break in a header',
      { ...collector, headers: { 'x-a': 'b\r\nx-c: d' } },
      'config.headers.x-a',
      'must be printable ASCII without line breaks, and neither begin nor end with a blank',
    ],
    [
      'a line break in the name',
      { ...collector, headers: { 'x-a\r\nb': 'c' } },
      'config.headers["x-a\\r\\nb"]',
      'key must be the name of a header: letters, digits and "-"',
    ],
    [
      'a header of the gateway',
      { ...collector, headers: { 'Content-Length': '1' } },
      'config.headers.Content-Length',
      'is set by the gateway itself',
    ],
    [
      'a header twice',
      { ...collector, headers: { 'X-A': '1', 'x-a': '2' } },
      'config.headers.x-a',
      'is given twice: names of headers have no case',
    ],
    ['a header of another kind', { ...collector, headers: { a: 1 } }, 'config.headers.a', 'must be a string'],
    [
      'another encoding',
      { ...collector, protocol: 'grpc' },
      'config.protocol',
      'must be one of "json", "protobuf" or null',
    ],
  ])('names %s by its path', (_, config, path, message) => {
    expect(issues(config)).toEqual([{ path, message }]);
  });

  it.each([
    ['a template with another variable', { pathTemplate: '{model}' }, 'config.pathTemplate'],
    ['a template that leads up', { pathTemplate: '/a' }, 'config.pathTemplate'],
    ['a prefix with two slashes', { prefix: 'a//b' }, 'config.prefix'],
    ['a bucket with a slash', { bucketName: 'a/b' }, 'config.bucketName'],
  ])('refuses %s', (_, more, path) => {
    const config = { bucketName: 'bucket', accessKeyId: 'id', secretAccessKey: 's', ...more };
    expect(issues(config, 's3')).toMatchObject([{ path }]);
  });

  it('asks whether the address that is written to may be reached, and names its member', () => {
    const asked: string[] = [];
    const refuse = (url: URL) => {
      asked.push(url.href);
      return 'names an address that is not public';
    };
    const config = { apiKey: 'k', mlApp: 'a', url: 'https://api.datadoghq.eu' };
    expect(configIssues('datadog', config, refuse)).toEqual([
      { path: 'config.url', message: 'names an address that is not public' },
    ]);
    expect(asked).toEqual(['https://otlp.datadoghq.eu/v1/traces']);
  });

  it('quotes no value', () => {
    const secret = 'planted\nsecret';
    const text = JSON.stringify([
      issues({ publicKey: secret, secretKey: [secret], baseUrl: `http://${secret}@x` }, 'langfuse'),
      issues({ dsn: secret, otlpEndpoint: secret, headers: { a: secret } }, 'sentry'),
    ]);
    expect(text).not.toContain('planted');
  });
});

describe('a configuration in two parts', () => {
  const whole = {
    publicKey: 'pk-0123456789abcd',
    secretKey: 'short',
    baseUrl: 'https://langfuse.example.com',
    headers: { 'X-A.B': 'header-0123456789' },
  };
  const { config, secrets } = splitConfig('langfuse', { ...whole, nothing: null });

  it('takes secrets out, and puts them back', () => {
    expect(config).toEqual({ baseUrl: 'https://langfuse.example.com' });
    expect(secrets).toEqual({
      publicKey: 'pk-0123456789abcd',
      secretKey: 'short',
      'headers.X-A.B': 'header-0123456789',
    });
    expect(joinConfig(config, secrets)).toEqual(whole);
  });

  it('shows secrets masked', () => {
    expect(shownConfig({ config, secretLabels: labelsOf(secrets) })).toEqual({
      publicKey: 'pk-...abcd',
      secretKey: '...',
      baseUrl: 'https://langfuse.example.com',
      headers: { 'X-A.B': 'hea...6789' },
    });
  });

  const current = { config, secrets, secretLabels: labelsOf(secrets) };
  const shown = shownConfig(current);

  it('stays as it is when what is shown is given back', () => {
    expect(changedConfig(current, shown)).toEqual({ whole, kept: Object.keys(secrets) });
    expect(changedConfig(current, {})).toEqual({ whole, kept: Object.keys(secrets) });
  });

  it('changes what is given', () => {
    expect(changedConfig(current, { secretKey: 'other', baseUrl: 'https://b.example.com' })).toEqual({
      whole: { ...whole, secretKey: 'other', baseUrl: 'https://b.example.com' },
      kept: ['publicKey', 'headers.X-A.B'],
    });
  });

  it('replaces headers as a whole, and clears what is null', () => {
    expect(changedConfig(current, { headers: { x: 'new' }, baseUrl: null })).toEqual({
      whole: { publicKey: whole.publicKey, secretKey: whole.secretKey, headers: { x: 'new' } },
      kept: ['publicKey', 'secretKey'],
    });
    expect(changedConfig(current, { headers: null }).kept).toEqual(['publicKey', 'secretKey']);
    expect(changedConfig(current, { headers: { 'X-A.B': 'hea...6789', y: '1' } })).toEqual({
      whole: { ...whole, headers: { 'X-A.B': 'header-0123456789', y: '1' } },
      kept: ['publicKey', 'secretKey', 'headers.X-A.B'],
    });
  });
});

it('knows whether two configurations lead to the same server', () => {
  const at = (url: string) => ({ url });
  expect(leadToSameServer('webhook', at('https://a.example.com/x'), at('https://a.example.com/y'))).toBe(
    true,
  );
  expect(leadToSameServer('webhook', at('https://a.example.com/x'), at('https://a.example.com:8443/x'))).toBe(
    false,
  );
  expect(leadToSameServer('webhook', at('https://a.example.com/x'), at('http://a.example.com/x'))).toBe(
    false,
  );
});
