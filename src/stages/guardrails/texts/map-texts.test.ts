import { describe, expect, it } from 'vitest';
import { mapTexts } from './map-texts.ts';

const NUMBER = '123-45-6789';

const redacted = (text: string) => text.replaceAll(NUMBER, '[SSN]').replaceAll('4111111111111111', '[CARD]');

const base64 = (text: string, encoding: BufferEncoding | 'utf16be' = 'utf8') =>
  (encoding === 'utf16be' ? Buffer.from(text, 'utf16le').swap16() : Buffer.from(text, encoding)).toString(
    'base64',
  );

const mapped = (value: unknown, member?: string) => mapTexts(value, redacted, undefined, member);

describe('mapTexts', () => {
  it('leaves marks of the protocol as they are', () => {
    const call = { type: 'tool-call', callId: `call_${NUMBER}`, status: 'completed', name: 'look_up' };
    expect(mapped(call)).toBe(call);
    const sealed = { type: 'reasoning', text: [], summary: [], encrypted: `${NUMBER}${'x'.repeat(64)}` };
    expect(mapped(sealed)).toBe(sealed);
  });

  it('takes for marks only what looks like them, and values that are documented for their member', () => {
    const call = (text: string) => ({ type: 'tool-call', callId: text, status: text, signature: text });
    expect(mapped(call(NUMBER))).toEqual(call('[SSN]'));
    const source = (text: string) => ({ kind: 'base64', mediaType: text, data: text });
    expect(mapped(source(NUMBER))).toEqual(source('[SSN]'));
    expect(mapped(source('4111111111111111'))).toEqual(source('[CARD]'));
    expect(mapped({ type: 'image', detail: NUMBER, cache: { ttl: NUMBER } })).toEqual({
      type: 'image',
      detail: '[SSN]',
      cache: { ttl: '[SSN]' },
    });
  });

  it('finds no marks in objects of types that are not documented, and in members that are not', () => {
    const made = (type: string, text: string, number: unknown) => ({
      type: 'opaque',
      dialect: 'chat',
      value: { type, id: text, [text]: { data: text, n: number, type: 'text' }, content: [{ [text]: null }] },
    });
    expect(mapped(made('made_up', NUMBER, 4111111111111111))).toEqual(made('made_up', '[SSN]', '[CARD]'));
    expect(mapped(made(NUMBER, 'x', 1))).toEqual(made('[SSN]', 'x', 1));
    const known = (text: string, number: unknown) => ({
      type: 'web_search_call',
      id: 'ws_1',
      status: 'completed',
      extra: { id: text, n: number },
      [text]: true,
    });
    expect(mapped(known(NUMBER, 4111111111111111))).toEqual(known('[SSN]', '[CARD]'));
  });

  it('reads names of schemas that JSON Schema does not have', () => {
    const schema = (text: string) => ({ type: 'object', properties: {}, [text]: 1, 'x-note': { id: text } });
    const tool = (text: string) => ({ type: 'function', name: 'f', parameters: schema(text) });
    expect(mapped([tool(NUMBER)], 'tools')).toEqual([tool('[SSN]')]);
  });

  it('loses no member when several get one name', () => {
    const value = JSON.parse(
      `{"${NUMBER}": 1, "__proto__": "${NUMBER}", "[SSN]": 2, "${NUMBER} ": 3}`,
    ) as object;
    const result = mapped({ metadata: value }) as { metadata: Record<string, unknown> };
    expect(Object.entries(result.metadata)).toEqual([
      ['[SSN]_2', 1],
      ['__proto__', '[SSN]'],
      ['[SSN]', 2],
      ['[SSN] ', 3],
    ]);
  });

  it('reads what stands beside a file, and the type of a data URL', () => {
    const file = (text: string) => ({
      type: 'base64',
      media_type: 'text/plain',
      data: base64('Hi.'),
      [text]: text,
    });
    expect(mapped(file(NUMBER))).toEqual(file('[SSN]'));
    const long = Buffer.from(Array.from({ length: 300 }, (_, index) => (index * 7919) % 251)).toString(
      'base64',
    );
    const url = (text: string) => `data:image/png;name=${text};base64,${long}`;
    expect(mapped(url(NUMBER))).toBe(url('[SSN]'));
    expect(mapped('data:image/png;base64,4111111111111111')).toBe('data:image/png;base64,[CARD]');
    const image = { kind: 'base64', mediaType: 'image/png', data: long };
    expect(mapped(image)).toBe(image);
  });

  it('finds no marks in metadata: all names, texts and long numbers are the caller’s', () => {
    const metadata = {
      id: NUMBER,
      status: NUMBER,
      type: NUMBER,
      [NUMBER]: { data: NUMBER, n: 4111111111111111 },
    };
    const expected = { id: '[SSN]', status: '[SSN]', type: '[SSN]', '[SSN]': { data: '[SSN]', n: '[CARD]' } };
    expect(mapped(metadata, 'metadata')).toEqual(expected);
    expect(mapped({ metadata })).toEqual({ metadata: expected });
  });

  it('finds no marks in schemas but the names of types, and own data in their examples', () => {
    const schema = (text: string, number: unknown) => ({
      type: 'object',
      maximum: 4111111111111111,
      properties: {
        [text]: { type: 'string', format: text, default: { id: text, [text]: number }, enum: [number, text] },
        default: { type: 'integer', maximum: 4111111111111111 },
      },
    });
    const before = { type: 'function', name: 'f', parameters: schema(NUMBER, 4111111111111111) };
    const after = { type: 'function', name: 'f', parameters: schema('[SSN]', '[CARD]') };
    expect(mapped([before], 'tools')).toEqual([after]);
  });

  it.each([
    ['application/octet-stream', 'utf8'],
    ['application/vnd.ms-excel', 'utf8'],
    ['application/json; charset=utf-8', 'utf8'],
    ['image/png', 'utf8'],
    ['text/plain', 'utf16le'],
    ['application/octet-stream', 'utf16le'],
    ['text/plain', 'utf16be'],
    ['application/octet-stream', 'utf16be'],
  ] as const)('reads a text file that says it is %s in %s', (mediaType, encoding) => {
    const file = (text: string) => ({ kind: 'base64', mediaType, data: base64(text, encoding) });
    expect(mapped(file(`It is ${NUMBER}.`))).toEqual(file('It is [SSN].'));
    const url = (text: string) => `data:${mediaType.replace(' ', '')};base64,${base64(text, encoding)}`;
    expect(mapped(url(`It is ${NUMBER}.`))).toBe(url('It is [SSN].'));
  });

  it('leaves files alone that are no text', () => {
    for (const bytes of [`\x89PNG\r\n\x1a\n${NUMBER}`, `%PDF-1.7 ${NUMBER}`, `RIFF\0\0\0\0WAVE${NUMBER}`]) {
      const file = { kind: 'base64', mediaType: 'application/octet-stream', data: base64(bytes, 'latin1') };
      expect(mapped(file)).toBe(file);
    }
  });
});
