import { describe, expect, it } from 'vitest';
import { baseUrl, firstStartJson, firstStartText } from './first-start.ts';

const at = (host: string, port: number, basePath: string) => ({ host, port, basePath, isTls: false });

describe('baseUrl', () => {
  it('is an address that one can connect to', () => {
    expect(baseUrl(at('127.0.0.1', 8787, '/api/v1'))).toBe('http://127.0.0.1:8787/api/v1');
    expect(baseUrl(at('0.0.0.0', 80, '/api/v1'))).toBe('http://127.0.0.1:80/api/v1');
    expect(baseUrl(at('::', 80, '/v1'))).toBe('http://[::1]:80/v1');
    expect(baseUrl(at('fd00::1', 80, '/v1'))).toBe('http://[fd00::1]:80/v1');
    expect(baseUrl(at('localhost', 80, '/v1'))).toBe('http://localhost:80/v1');
    expect(baseUrl({ ...at('localhost', 443, '/v1'), isTls: true })).toBe('https://localhost:443/v1');
  });
});

describe('firstStartText', () => {
  const text = firstStartText(
    { managementKey: 'sk-m', apiKey: 'sk-a' },
    {
      url: 'http://h:1/api/v1',
      dataDir: '/srv/data',
      console: 'http://h:1/',
      model: 'simulator/standard',
      node: '24.1.0',
    },
  );

  it('shows both keys, the address and the data directory', () => {
    expect(text).toContain('/srv/data');
    expect(text).toContain('sk-m');
    expect(text).toContain('http://h:1/api/v1\n');
  });

  it.each([
    ['20.19.2', true],
    ['22.12.0', false],
    ['24.1.0', false],
  ])('says that a newer Node is quicker: %s %s', (node, isSaid) => {
    const place = { url: 'http://h', dataDir: '/srv/data', console: undefined, model: undefined, node };
    const said = firstStartText({ managementKey: 'sk-m', apiKey: 'sk-a' }, place);
    expect(said.includes(`This is Node ${node}. With Node 24`)).toBe(isSaid);
  });

  it('shows where the console is, if there is one', () => {
    expect(text).toContain('  Console         http://h:1/, sign in with the management key\n\n');
    const without = firstStartText(
      { managementKey: 'sk-m', apiKey: 'sk-a' },
      {
        url: 'http://h:1/api/v1',
        dataDir: '/srv/data',
        console: undefined,
        model: undefined,
        node: '24.1.0',
      },
    );
    expect(without).not.toContain('Console');
  });

  it.each([
    ['simulator/standard', "curl 'http://[::1]:1/api/v1/responses' -H"],
    [undefined, "curl 'http://[::1]:1/api/v1/models'"],
  ])('quotes an address with brackets for the shell: model %s', (model, command) => {
    const place = {
      url: 'http://[::1]:1/api/v1',
      dataDir: '/srv/data',
      console: undefined,
      model,
      node: '24.1.0',
    };
    expect(firstStartText({ managementKey: 'sk-m', apiKey: 'sk-a' }, place)).toContain(`  ${command}`);
  });

  it('shows a curl command on one line, with the API key and a body that is JSON', () => {
    const line = text.split('\n').find((candidate) => candidate.trim().startsWith('curl '));
    expect(line).toContain('http://h:1/api/v1/responses');
    expect(line).toContain('"Authorization: Bearer sk-a"');
    const body = JSON.parse(/-d '([^']*)'/.exec(line ?? '')?.[1] ?? '');
    expect(body).toEqual({ model: 'simulator/standard', input: 'Hello' });
  });
});

describe('firstStartJson', () => {
  it('is one line that is one JSON object', () => {
    const text = firstStartJson({ managementKey: 'sk-m', apiKey: 'sk-a' }, 'http://h:1/api/v1');
    expect(text.indexOf('\n')).toBe(text.length - 1);
    expect(JSON.parse(text)).toEqual({
      base_url: 'http://h:1/api/v1',
      management_key: 'sk-m',
      api_key: 'sk-a',
    });
  });
});
