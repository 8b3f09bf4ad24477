import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from './json.ts';
import { JsonTemplate } from './json-template.ts';

const textOf = (value: JsonObject) => value.text;

describe('JsonTemplate', () => {
  it('reads and writes the string in the gap', () => {
    const template = JsonTemplate.of('{"a":1,"text": "one","b":[]}', 'text', textOf);
    expect(template?.read('{"a":1,"text": "two \\"2\\"","b":[]}')).toBe('two "2"');
    expect(template?.write('three\n')).toBe('{"a":1,"text": "three\\n","b":[]}');
  });

  it.each([
    ['another member', '{"a":2,"text": "x","b":[]}'],
    ['a second string in the gap', '{"a":1,"text": "x","y":"z","b":[]}'],
    ['no string', '{"a":1,"text": 7,"b":[]}'],
    ['a broken escape', '{"a":1,"text": "\\","b":[]}'],
    ['less than what is around the gap', '{"a":1'],
  ])('reads nothing from text with %s', (_, text) => {
    expect(JsonTemplate.of('{"a":1,"text": "one","b":[]}', 'text', textOf)?.read(text)).toBeUndefined();
  });

  it.each([
    ['nested', '{"x":{"text":"a"},"text":"b"}'],
    ['twice', '{"text":"a","text":"b"}'],
    ['missing', '{"a":"b"}'],
    ['not closed', '{"text":"a'],
  ])('is not made where the member is %s', (_, text) => {
    expect(JsonTemplate.of(text, 'text', textOf)).toBeUndefined();
  });

  it('finds what JSON.parse finds, for any string however it is escaped', () => {
    const template = JsonTemplate.of('{"text":"","n":1}', 'text', textOf);
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.boolean(), (string, ascii) => {
        const literal = ascii
          ? JSON.stringify(string).replace(
              /[^\x20-\x7e]/g,
              (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`,
            )
          : JSON.stringify(string);
        expect(template?.read(`{"text":${literal},"n":1}`)).toBe(string);
      }),
    );
  });
});
