import { describe, expect, it } from 'vitest';
import { processorMs } from '../../../test/kit/builders/processor-ms.ts';
import { withoutKnownSecrets } from './without-secrets.ts';

const SECRET = 'CANARYkey+up/9f3e7a=Zq';
const clean = (text: string) => withoutKnownSecrets(text, { forms: [SECRET], replacement: '[redacted]' });

const everyUnit = (write: (code: string) => string, digits = 4) =>
  Array.from(SECRET, (character) => write(character.charCodeAt(0).toString(16).padStart(digits, '0'))).join(
    '',
  );

const WRITTEN: Readonly<Record<string, string>> = {
  'as it is': SECRET,
  'with escaped slashes': SECRET.replace('/', '\\/'),
  'with escaped slashes inside JSON inside JSON': SECRET.replace('/', '\\\\/'),
  'as some JSON writers do': SECRET.replace('+', '\\u002B').replace('=', '\\u003d'),
  'all in unicode escapes': everyUnit((hex) => `\\u${hex}`),
  'all in unicode escapes, twice': everyUnit((hex) => `\\\\u${hex}`),
  'all in unicode escapes, three times': everyUnit((hex) => `\\\\\\\\u${hex}`),
  'all in code points': everyUnit((hex) => `\\u{${hex}}`, 2),
  'all in hexadecimal escapes': everyUnit((hex) => `\\x${hex}`, 2),
  'in a URL': encodeURIComponent(SECRET),
  'in a URL, with small letters': encodeURIComponent(SECRET)
    .toLowerCase()
    .replace('canary', 'CANARY')
    .replace('zq', 'Zq'),
  'in a URL inside a URL': encodeURIComponent(encodeURIComponent(SECRET)),
  'in markup, by number': SECRET.replace('+', '&#43;').replace('/', '&#x2F;'),
  'in markup, by name': SECRET.replace('+', '&plus;').replace('=', '&equals;'),
  'in markup inside markup': SECRET.replace('+', '&amp;#43;'),
  'in markup inside JSON': SECRET.replace('+', '\\u0026#43;'),
  'over two lines': `${SECRET.slice(0, 10)}\n${SECRET.slice(10)}`,
  'over two lines, escaped': `${SECRET.slice(0, 10)}\\n${SECRET.slice(10)}`,
  'with unseen characters inside': `${SECRET.slice(0, 4)}\u200b${SECRET.slice(4, 9)}\\u00ad${SECRET.slice(9)}`,
};

describe('withoutSecrets', () => {
  it.each(Object.entries(WRITTEN))('finds a secret %s', (_, written) => {
    expect(clean(`bad key: ${written}, and again: ${written}.`)).toBe(
      'bad key: [redacted], and again: [redacted].',
    );
  });

  it('leaves everything else as it was written', () => {
    const text = '{"a":"\\u0041\\/\\\\","b":"100% & &lt;more&gt; \\x"} \u200b\n';
    expect(clean(text)).toBe(text);
    expect(clean(`${text}${SECRET}${text}`)).toBe(`${text}[redacted]${text}`);
  });

  it('does not find a short secret across blanks', () => {
    expect(withoutKnownSecrets('get set', { forms: ['tset'], replacement: '-' })).toBe('get set');
  });

  it('replaces what overlaps once', () => {
    expect(withoutKnownSecrets('abcdefgh', { forms: ['abcdef', 'defgh'], replacement: '-' })).toBe('-');
  });

  it.each(['\\', '\\u', '\\u005c', '%25', '&amp;', '\u200b', SECRET.slice(0, -1)])(
    'takes time in proportion to a text of %j',
    (unit) => {
      const text = unit.repeat(200_000 / unit.length);
      clean(text);
      // A quadratic search would take hundreds of times as long.
      expect(processorMs(() => clean(text))).toBeLessThan(2000);
    },
  );
});
