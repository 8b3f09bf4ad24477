/** Texts that make filters work: of digits, signs, near misses, and characters whose normal form is another one. */

/** `piece` over and over, up to a length. */
function repeated(piece: string, length: number): string {
  return piece.repeat(Math.ceil(length / piece.length)).slice(0, length);
}

/** Pieces in an order without a period. */
function mixed(pieces: readonly string[], length: number): string {
  let text = '';
  for (let random = 7; text.length < length; random = (random * 48271) % 2147483647) {
    text += pieces[(random >> 8) % pieces.length];
  }
  return text.slice(0, length);
}

const DIGITS = [...'0123456789'];
const HEX = [...'0123456789abcdef'];
const LETTERS = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'];

const REPEATED = [
  ...[
    '69 67 ',
    '4111 ',
    '4 ',
    '4-',
    '4-\n',
    '4111-11-',
    '411 ',
    '-',
    '.',
    '@',
    ':',
    '#',
    '(',
    '<',
    '[',
    '~',
    '=',
  ],
  ...['1.2.3.', '192.168.', '255.255.255.256 ', ':1:1.1.1.256', '1::2:', 'a:', '1:', 'ffff:', '12:30:45 '],
  ...['a@', 'a@b.', '@abc', '%40', 'a%40a.', '&#64;', '&#0000', 'a&commat;b.', `${'a'.repeat(64)}@`],
  ...[`@${'a.'.repeat(126)}`, `@a${'-'.repeat(60)}`, 'a.', 'a'],
  ...['555-123-456 ', '(555) ', '+1 2 3 4 5 ', '+12 12345 12345 ', '5551234567', '555.123.4567.', '+9(1)1 '],
  ...['123-45-678 ', '123-45-', '000-12-3456 ', '123-45-67890'],
  ...['\\x69', '0x69,', '%69', '69, ', '60 61 62 63 64 9', 'Aa1', 'QUJDREVGR0hJSktMTU5P\n'],
  ...['i g n o r e ', 'a ', 'a-', 'a _ ', 'ignroe ', 'ignroe bypsas prevoius ', 'ignore ', 'ignore ________'],
  ...['ignore all the your my ', 'act as a an the ', 'from now on you are ', 'show me the system ', 'DAN '],
  ...[
    'output the full system ',
    'without any of your ',
    'all your system rules are ',
    'enter the developer mode ',
  ],
  ...[
    '<        ',
    '<system ',
    '<|',
    '[ system ',
    '\n### ',
    '\n---',
    '"role":"system",',
    '\nsystem:',
    '\n   ',
  ],
  ...['\u200b', 'a\u200b', 'e\u0301', `e${'\u0301'.repeat(30)}`, '\u0301', '4\u00ad', '\ud800', '\u{1d422}'],
  ...[
    '\uff49',
    '\uff11',
    '\uff11\uff0e',
    '\u0664',
    '\u096a',
    '\ufdfa',
    '\u3300',
    '\u00bd',
    '\u1100\u1161\u11a8',
  ],
  ...['\u00e9', '\u4f60', '\u{1f600}'],
];

const MIXED = {
  digits: DIGITS,
  'pairs of digits': DIGITS.flatMap((one) => DIGITS.map((other) => `${one}${other} `)),
  'single digits': DIGITS.map((digit) => `${digit} `),
  'digits and points': DIGITS.map((digit) => `${digit}.`),
  hex: HEX,
  'pairs of hex': HEX.flatMap((one) => HEX.map((other) => `${one}${other} `)),
  'hex and colons': HEX.flatMap((one) => HEX.map((other) => `${one}${other}:`)),
  base64: [...LETTERS, ...DIGITS, '+', '/'],
  'spaced letters': LETTERS.map((letter) => `${letter} `),
};

/** The texts with their names. */
export function adversarialTexts(length: number): { readonly name: string; readonly text: string }[] {
  return [
    ...REPEATED.map((piece) => ({
      name: JSON.stringify(piece.length > 24 ? `${piece.slice(0, 24)}...` : piece),
      text: repeated(piece, length),
    })),
    ...Object.entries(MIXED).map(([name, pieces]) => ({ name, text: mixed(pieces, length) })),
  ];
}
