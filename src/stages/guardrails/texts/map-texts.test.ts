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
    const call = { type: 'tool-call', callId: NUMBER, status: NUMBER, name: 'look_up' };
    expect(mapped(call)).toBe(call);
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
