import { describe, expect, it } from 'vitest';
import { fileText } from './file-text.ts';

describe('fileText', () => {
  it('takes UTF-8, with a replacement character that the file itself has', () => {
    expect(fileText(Buffer.from('vendor: caf\u00e9 \ufffd\n'))).toEqual({
      text: 'vendor: caf\u00e9 \ufffd\n',
    });
    expect(fileText(Buffer.alloc(0))).toEqual({ text: '' });
  });

  it.each([
    ['with a mark', Buffer.from('\ufeffvendor: acme\n', 'utf16le')],
    ['with a mark, big-endian', Buffer.from('\ufeffvendor: acme\n', 'utf16le').swap16()],
    ['without a mark', Buffer.from('vendor: acme\n', 'utf16le')],
    ['without a mark, big-endian', Buffer.from('vendor: acme\n', 'utf16le').swap16()],
  ])('refuses UTF-16 %s', (_what, bytes) => {
    expect(fileText(bytes).problem?.message).toContain('UTF-16: save it as UTF-8');
  });

  it.each([
    ['a byte of Latin-1', [0xe9, 0x0a], 12],
    ['a sequence that is cut', [0xc3], 12],
    ['a surrogate', [0xed, 0xa0, 0x80], 12],
    ['one behind a character of three bytes', [0xe2, 0x82, 0xac, 0xe9], 13],
  ])('finds the place of %s', (_what, bytes, column) => {
    const { problem } = fileText(Buffer.concat([Buffer.from('a: 1\nvendor: caf'), Buffer.from(bytes)]));
    expect(problem?.place).toEqual({ line: 2, column, width: 1 });
  });
});
