import { namedCharacter } from '../../kit/text/named-character.ts';

/** Text with character references replaced by what they stand for; unknown names stay as they are written. */
export function decodeReferences(text: string): string {
  if (!text.includes('&')) return text;
  return text.replace(
    /&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|([a-z][a-z0-9]{1,30}));?/gi,
    (whole, hex, decimal, name) => {
      if (name !== undefined) return namedCharacter(name) ?? whole;
      const point = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
      const isCharacter = point > 0 && point <= 0x10ffff && (point < 0xd800 || point > 0xdfff);
      return isCharacter ? String.fromCodePoint(point) : '\ufffd';
    },
  );
}

/** A short text without markup: for snippets of search engines, which mark the words that they found. */
export function plainText(text: string): string {
  return decodeReferences(text.replace(/<\/?[a-z][^<>]{0,500}>/gi, ''));
}
