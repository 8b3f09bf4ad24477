import { describe, expect, it } from 'vitest';
import { processorMs } from '../../../test/kit/builders/processor-ms.ts';
import { isSecretName, redact, redactJson } from './redact.ts';

const CONFIDENTIAL = { secrets: ['CANARY-7f3a91', 'pass"word'], host: 'llm.example.com:8443' };

function clean(text: string): string {
  return redact(text, CONFIDENTIAL);
}

describe('redact', () => {
  it.each([
    ['the credential itself', 'key CANARY-7f3a91 is wrong', 'CANARY'],
    ['the credential inside JSON text', '{"k":"pass\\"word"}', 'word'],
    ['the credential inside a URL', 'see ?k=CANARY-7f3a91&x=1', 'CANARY'],
    ['the credential in base64', Buffer.from('CANARY-7f3a91').toString('base64'), 'Q0FOQVJ'],
    ['a bearer token', 'Authorization: Bearer abc.def.ghi', 'abc.def'],
    ['an echoed header in JSON', '{"authorization":"Bearer abc.def.ghi"}', 'abc.def'],
    ['a basic credential', 'basic dXNlcjpwYXNz', 'dXNlcj'],
    ['a key by its shape', 'Incorrect API key provided: sk-proj-abc123def', 'abc123'],
    ['a masked key', 'Incorrect API key provided: sk-abcd********wxyz', 'wxyz'],
    ['a Google key', 'AIzaSyA1234567890abcdefghij', 'SyA123'],
    ['an AWS key', 'AKIAIOSFODNN7EXAMPLE', 'IOSF'],
    ['a web token', 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc', 'eyJ'],
    ['key=value', 'api_key=hunter2hunter2', 'hunter'],
    ['a quoted key: value', '"x-api-key": "hunter2hunter2"', 'hunter'],
    ['a password', 'password: hunter2', 'hunter'],
    ['a URL of the upstream', 'POST https://llm.example.com:8443/v1/chat failed', '/v1/chat'],
    ['the host of the upstream', 'upstream llm.example.com:8443 failed', 'llm.example'],
    ['an address', 'connect ECONNREFUSED 10.1.2.3:8080', '10.1.2.3'],
    ['a v6 address', 'connect to [fe80::1]:8080 failed', 'fe80'],
    ['a URL inside the network', 'GET http://vllm-7:8000/health', 'vllm-7'],
    ['a URL with a password', 'https://me:secret@public.example.org/', 'me:'],
  ])('removes %s', (_, text, gone) => {
    expect(text).toContain(gone);
    expect(clean(text)).not.toContain(gone);
    expect(clean(text)).toContain('[redacted]');
  });

  it.each([
    'max_tokens: 5 is above the limit of 4 tokens',
    'See https://docs.example.org/errors#context for help.',
    'The token count 128000 exceeds the model limit',
    'version 1.2.3 of the api is gone',
    'task-oriented, risk-averse',
  ])('leaves "%s" alone', (text) => {
    expect(clean(text)).toBe(text);
  });

  it.each([16_370, 16_380, 16_384])(
    'does not show half of a secret that ends behind %i characters',
    (end) => {
      const text = `${'x '.repeat(10_000).slice(0, end - 6)}CANARY-7f3a91 and more ${'y'.repeat(50_000)}`;
      expect(clean(text)).not.toMatch(/CAN|CA$/);
      expect(clean(text).length).toBeGreaterThan(10_000);
    },
  );

  it('finds a secret that was escaped', () => {
    expect(clean('{"k":"\\u0043ANARY\\u002d7f3a91"}')).toBe('{"k":"[redacted]"}');
  });

  it.each([
    'eyJ-',
    'eyJabcdefgh',
    'bearer ',
    'ab://x ',
    '[:',
    'secret:',
    'sk-',
    '1.1.1.',
    'AIza',
    'api_key ',
  ])('takes linear time for %j again and again', (unit) => {
    const hostile = unit.repeat(65_536 / unit.length);
    expect(processorMs(() => clean(hostile))).toBeLessThan(1000);
  });

  it('takes linear time', () => {
    const hostile = `${'api_key'.repeat(20_000)}${'1.'.repeat(50_000)}${'bearer '.repeat(20_000)}`;
    expect(processorMs(() => clean(hostile))).toBeLessThan(1000);
  });
});

describe('redactJson', () => {
  it('removes the credential anywhere and the text of members named like secrets', () => {
    const body = {
      model: 'm',
      api_key: 'anything',
      headers: { Authorization: 'Bearer x', accept: 'json' },
      messages: [{ role: 'user', content: 'my key is CANARY-7f3a91, ok?' }],
    };
    expect(redactJson(body, CONFIDENTIAL.secrets)).toEqual({
      model: 'm',
      api_key: '[redacted]',
      headers: { Authorization: '[redacted]', accept: 'json' },
      messages: [{ role: 'user', content: 'my key is [redacted], ok?' }],
    });
  });

  it('removes every header that an MCP server is called with', () => {
    const tool = {
      type: 'mcp',
      server_label: 'x',
      server_url: 'https://mcp.example.com',
      authorization: 'one',
      headers: { 'X-Key': 'two', Accept: ['three'], __proto__: null },
    };
    const body = redactJson(
      { tools: [tool], mcp_servers: [{ type: 'url', authorization_token: 'four' }] },
      [],
    );
    expect(JSON.stringify(body)).not.toMatch(/one|two|three|four/);
    expect(body).toMatchObject({
      tools: [{ server_label: 'x', headers: { 'X-Key': '[redacted]', Accept: '[redacted]' } }],
    });
    const other = { type: 'function', headers: { accept: 'json' } };
    expect(redactJson(other, [])).toEqual(other);
  });

  it('leaves schemas of members with such names, and the given value itself', () => {
    const body = { properties: { api_key: { type: 'string' }, token: { type: 'string' } } };
    expect(redactJson(body, [])).toEqual(body);
  });

  it('keeps odd keys as plain keys', () => {
    const body = JSON.parse('{"__proto__":{"polluted":true}}');
    const copy = redactJson(body, []);
    expect(Object.hasOwn(copy, '__proto__')).toBe(true);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });
});

describe('isSecretName', () => {
  it.each(['Authorization', 'x-api-key', 'api_key', 'apiKey', 'x-goog-api-key', 'client_secret', 'password'])(
    'knows %s',
    (name) => expect(isSecretName(name)).toBe(true),
  );
  it.each(['max_tokens', 'tokens', 'tool_choice', 'anthropic-version'])('lets %s through', (name) =>
    expect(isSecretName(name)).toBe(false),
  );
});
