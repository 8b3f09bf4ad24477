import { describe, expect, it } from 'vitest';
import { ContentTypeDetector } from './content-type-detector.ts';

const bytes = (text: string) => Buffer.from(text, 'latin1');
const OFFICE = 'application/vnd.openxmlformats-officedocument';

/** An archive with entries of these names, none of them with content. */
const archive = (...names: string[]) =>
  Buffer.concat(
    names.map((name) => Buffer.concat([bytes('PK\x03\x04'), Buffer.alloc(26), Buffer.from(name)])),
  );

function typeOf(content: Buffer, pieceSize = content.length): string | undefined {
  const type = new ContentTypeDetector();
  for (let index = 0; index < content.length; index += pieceSize) {
    type.push(content.subarray(index, index + pieceSize));
  }
  return type.end();
}

const CASES: readonly (readonly [string, Buffer, string | undefined])[] = [
  ['PDF', bytes('%PDF-1.7\n%\xe2\xe3'), 'application/pdf'],
  ['PNG', bytes('\x89PNG\r\n\x1a\n\0\0\0\rIHDR'), 'image/png'],
  ['JPEG', bytes('\xff\xd8\xff\xe0\0\x10JFIF'), 'image/jpeg'],
  ['GIF', bytes('GIF89a\x01\0'), 'image/gif'],
  ['WebP', bytes('RIFF\0\0\0\0WEBPVP8 '), 'image/webp'],
  ['WAV', bytes('RIFF\0\0\0\0WAVEfmt '), 'audio/wav'],
  ['FLAC', bytes('fLaC\0\0\0\x22'), 'audio/flac'],
  ['OGG', bytes('OggS\0\x02\0'), 'audio/ogg'],
  ['MP3 with a tag', bytes('ID3\x04\0\0'), 'audio/mpeg'],
  ['MP3 without one', bytes('\xff\xfb\x90\x64\0'), 'audio/mpeg'],
  ['DOCX', archive('[Content_Types].xml', 'word/document.xml'), `${OFFICE}.wordprocessingml.document`],
  ['XLSX', archive('[Content_Types].xml', 'xl/workbook.xml'), `${OFFICE}.spreadsheetml.sheet`],
  ['PPTX', archive('_rels/.rels', 'ppt/presentation.xml'), `${OFFICE}.presentationml.presentation`],
  ['another archive', archive('photo.png', 'xl.txt'), undefined],
  [
    'an archive that only speaks of such a name',
    Buffer.concat([archive('a.txt'), bytes('see word/document.xml, \xff')]),
    undefined,
  ],
  ['AVI', bytes('RIFF\0\0\0\0AVI LIST'), undefined],
  ['a program', bytes('\x7fELF\x02\x01\x01\0\0'), undefined],
  ['AAC', bytes('\xff\xf1\x50\x80\0'), undefined],
  ['text in UTF-16', Buffer.from('\ufeffhello', 'utf16le'), undefined],
  ['text in Latin-1', bytes('caf\xe9'), undefined],
  ['text with a zero in it', bytes('a\0b'), undefined],
  ['a character that is cut', Buffer.from('grün').subarray(0, 3), undefined],
  ['an object', Buffer.from('{"a": [1, 2]}\n'), 'application/json'],
  ['an array over lines', Buffer.from('[\n  1,\n  2\n]'), 'application/json'],
  ['lines of objects', Buffer.from('{"a":1}\n{"a":2}\n'), 'application/x-ndjson'],
  ['something like JSON', Buffer.from('{a: 1}'), 'text/plain'],
  ['a table', Buffer.from('a,b,c\n1,2,3\n"x, y","two\nlines",z\n'), 'text/csv'],
  ['a table with semicolons', Buffer.from('a;b\r\n1;2\r\n'), 'text/csv'],
  ['prose with commas', Buffer.from('Hello, world\nGood, bye\n'), 'text/plain'],
  ['a heading', Buffer.from('# Title\n\nWords.\n'), 'text/markdown'],
  ['a fence', Buffer.from('Do this:\n\n```sh\nls\n```\n'), 'text/markdown'],
  ['a link', Buffer.from('See [the guide](https://example.com/x).'), 'text/markdown'],
  ['a script', Buffer.from('#!/bin/sh\necho hi\n'), 'text/plain'],
  ['words', Buffer.from('Schöne Grüße \u{1F44B}\n'), 'text/plain'],
];

describe('ContentTypeDetector', () => {
  it.each(CASES)('detects %s', (_, content, expected) => {
    expect(typeOf(content)).toBe(expected);
    expect(typeOf(content, 1)).toBe(expected);
    expect(typeOf(content, 7)).toBe(expected);
  });

  it('detects texts that are longer than the examined part', () => {
    const row = '{"a":"0123456789"}';
    expect(typeOf(Buffer.from(`${row}\n`.repeat(20_000)), 65_536)).toBe('application/x-ndjson');
    expect(typeOf(Buffer.from(`[${`${row},\n`.repeat(20_000)}1]\n`), 65_536)).toBe('application/json');
    expect(typeOf(Buffer.from(`[${'x'.repeat(300_000)}`), 65_536)).toBe('text/plain');
    expect(typeOf(Buffer.concat([Buffer.alloc(300_000, 'a'), Buffer.from([0])]), 65_536)).toBeUndefined();
  });
});
