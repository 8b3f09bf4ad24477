// biome-ignore-all lint/suspicious/noTemplateCurlyInString: configuration files name variables this way.
import { describe, expect, it } from 'vitest';
import { ExcerptSource } from './excerpt.ts';

/** The masked line, found by its number. */
function shown(text: string, line: number): string | undefined {
  return new ExcerptSource(text).excerptAt({ line, column: 1, width: 1 })?.text;
}

describe('ExcerptSource', () => {
  it('shows of a long line the member at the place', () => {
    const name = (count: number) =>
      `{ name: ${'a '.repeat(count)}, api_key: "canary, name: canary", colour: blue }`;
    const text = `providers: [${name(10)}, ${name(2500)}, ${name(10)}]`;
    const at = (word: string) => ({ line: 1, column: text.lastIndexOf(word) + 1, width: word.length });
    const source = new ExcerptSource(text);
    expect(source.excerptAt(at('colour'))).toEqual({ text: '... colour: blue }]', indent: 4, width: 6 });
    expect(source.excerptAt(at('api_key'))).toEqual({
      text: '... api_key: **********************, colour: blue }]',
      indent: 4,
      width: 7,
    });
    expect(source.excerptAt(at('canary'))?.text).toMatch(/^\.\.\. [* ]+$/);
  });

  it('shows nothing of a line whose members are too long to be searched for secrets', () => {
    const text = `server: { ${'x'.repeat(4_000_000)}: 1, colour: 2 }`;
    const source = new ExcerptSource(text);
    expect(source.excerptAt({ line: 1, column: text.indexOf('colour') + 1, width: 6 })).toBeUndefined();
    expect(source.excerptAt({ line: 1, column: 5_000, width: 6 })).toBeUndefined();
  });

  it.each([
    'api_key: canary-1',
    'api_kye: canary-1',
    'apikey: "canary-1"',
    'authorization: Bearer canary-1',
    'name: sk-canary1234',
    'name: canary0123456789abcdef',
    'base_url: https://user:canary@host/v1',
    'base_url: https://host/v1?key=canary',
    'headers: { x-team: canary }',
    "extra: { password: 'canary' }",
    'key: canary',
    'key: canary.pem canary',
    'secret: canary.pem',
    'tls: { cert: canary, key: "-----BEGIN canary.key-----\\n" }',
    'token = canary',
  ])('hides the secret of %s', (line) => {
    expect(shown(`vendor: acme\n${line}`, 2)).not.toContain('canary');
  });

  it.each([
    'name: Acme Large 3.5',
    'api_key: ${ACME_KEY}',
    'base_url: http://127.0.0.1:9101/v1/chat/completions',
    'id: anthropic/claude-3-5-sonnet-20241022',
    'max_output_tokens: 16000',
    'tls: { cert: ./tls/server.crt, key: "/etc/tls/server.key" }',
    'per_key: { requests_per_minute: 5 }',
  ])('shows %s as it is', (line) => {
    expect(shown(`vendor: acme\n${line}`, 2)).toBe(line);
  });

  it('hides what lies below a secret key: members and lines of a text', () => {
    const text =
      'providers:\n  - slug: acme\n    headers:\n      x-team: canary\n    api_key: |\n      canary two\n';
    expect(shown(text, 4)).toBe('      x-team: ******');
    expect(shown(text, 6)).toBe('      ****** ***');
  });

  it('shows nothing of a file that is not a configuration', () => {
    expect(shown('-----BEGIN PRIVATE KEY-----\ncanary\n', 2)).toBeUndefined();
    expect(shown('PASSWORD: canary', 1)).toBeUndefined();
  });

  it('cuts a long line around the place', () => {
    const text = `vendor: ${'x '.repeat(500)}`;
    const excerpt = new ExcerptSource(text).excerptAt({ line: 1, column: 500, width: 700 });
    expect(excerpt?.text.length).toBeLessThan(120);
    expect(excerpt).toMatchObject({ indent: 43, width: 60 });
  });
});
