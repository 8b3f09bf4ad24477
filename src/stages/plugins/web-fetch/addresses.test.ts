import { expect, it } from 'vitest';
import { leastMs } from '../../../../test/kit/builders/least-ms.ts';
import { runAtOnce } from '../../../kit/loop/turns.ts';
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
  expect(runAtOnce(addressesIn(text, 100))).toEqual(addresses);
});

it('stops at the number of addresses that are wanted', () => {
  const steps = addressesIn('https://a.test/1 https://a.test/2 '.repeat(1000), 1);
  expect(steps.next()).toEqual({ done: true, value: ['https://a.test/1'] });
});

it.each([
  ['closing brackets', `http://a.test/${')'.repeat(2000)} `],
  ['punctuation', `http://a.test/${'.'.repeat(2000)} `],
  ['protocols', 'http://'],
  ['marks', '://'],
])('searches %s in slices and in linear time', (_, piece) => {
  const timed = (length: number) => {
    const steps = addressesIn(piece.repeat(Math.ceil(length / piece.length)), 100);
    let slices = 1;
    while (steps.next().done !== true) slices++;
    return slices;
  };
  const short = leastMs(() => timed(100_000));
  expect(leastMs(() => timed(1_000_000), 3)).toBeLessThan(40 * short + 500);
  expect(timed(1_000_000)).toBeGreaterThan(1);
});
