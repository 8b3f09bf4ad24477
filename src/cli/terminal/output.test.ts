import { expect, it } from 'vitest';
import { usdText } from '../../kit/text/usd-text.ts';
import { documentText, tableText } from './output.ts';

it.each<[number, string]>([
  [0, '0.00'],
  [12.5, '12.50'],
  [1e-9, '0.000000001'],
  [0.123, '0.123'],
  [1_000_000_000, '1000000000.00'],
  [-0.5, '-0.50'],
])('writes %f USD as %s', (usd, text) => {
  expect(usdText(usd)).toBe(text);
});

it('writes a document with each value on one line that fits there', () => {
  const long = 'x'.repeat(80);
  const text = documentText({
    short: [1, { a: null }],
    empty: {},
    long: { text: long, list: ['y\n', long] },
  });
  expect(text).toBe(
    `{
  "short": [1, { "a": null }],
  "empty": {},
  "long": {
    "text": "${long}",
    "list": ["y\\n", "${long}"]
  }
}
`,
  );
});

it('aligns columns of numbers to the right', () => {
  expect(
    tableText(
      ['NAME', 'PRICE'],
      [
        ['a', '1'],
        ['b', '10.5'],
      ],
      ['PRICE'],
    ),
  ).toBe('NAME  PRICE\na         1\nb      10.5\n');
});
