import { expect, it } from 'vitest';
import { addressesIn } from './addresses.ts';

it.each([
  ['Read https://a.test/x?y=1#z, please.', ['https://a.test/x?y=1#z']],
  [
    '(https://a.test/) [b](http://b.test/c_(d)) <https://c.test>',
    ['https://a.test/', 'http://b.test/c_(d)', 'https://c.test'],
  ],
  ['https://a.test https://a.test', ['https://a.test']],
  ['file:///etc/passwd gopher://x/ HTTPS://A.test', ['file:///etc/passwd', 'gopher://x/', 'HTTPS://A.test']],
  ['no address: example.com, mailto:a@b.test', []],
  [`https://a.test/${'x'.repeat(3000)}`, []],
])('finds the addresses in %j', (text, addresses) => {
  expect(addressesIn(text)).toEqual(addresses);
});
