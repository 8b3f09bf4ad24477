import { describe, expect, it } from 'vitest';
import { curlOf } from './curl.ts';

describe('curlOf', () => {
  it('writes a request without a body', () => {
    expect(curlOf({ method: 'GET', path: '/keys?offset=100' }, 'http://127.0.0.1:8787/api/v1')).toBe(
      `curl 'http://127.0.0.1:8787/api/v1/keys?offset=100' \\\n  -H "Authorization: Bearer $MANAGEMENT_KEY"`,
    );
  });

  it('quotes a body so that the shell passes it on unchanged', () => {
    const command = curlOf(
      { method: 'POST', path: '/keys', body: { name: "it's $HOME" } },
      'http://h/api/v1',
    );
    expect(command).toContain(`-X POST 'http://h/api/v1/keys'`);
    expect(command).toContain(String.raw`-d '{"name":"it'\''s $HOME"}'`);
  });
});
