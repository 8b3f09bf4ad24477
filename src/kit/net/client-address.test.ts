import { expect, it } from 'vitest';
import { clientAddressOf, parseTrustedProxies } from './client-address.ts';

const trusted = parseTrustedProxies(['10.0.0.0/8', '::1', 'fd00::/8']);

it.each([
  ['no proxy', '203.0.113.9', [], '203.0.113.9'],
  ['a caller that is no trusted proxy', '203.0.113.9', ['1.2.3.4'], '203.0.113.9'],
  ['one proxy', '10.0.0.1', ['203.0.113.9'], '203.0.113.9'],
  ['what a caller wrote before its proxy', '10.0.0.1', ['1.2.3.4, 203.0.113.9'], '203.0.113.9'],
  ['two proxies', '10.0.0.1', ['1.2.3.4, 203.0.113.9, 10.0.0.2'], '203.0.113.9'],
  ['several fields', '10.0.0.1', ['1.2.3.4', '203.0.113.9', '10.0.0.2'], '203.0.113.9'],
  ['a caller in the trusted network', '10.0.0.1', ['10.0.0.7'], '10.0.0.7'],
  ['a trusted address that a caller claims', '203.0.113.9', ['10.0.0.7'], '203.0.113.9'],
  ['no address', '10.0.0.1', ['1.2.3.4, unknown'], '10.0.0.1'],
  ['an empty hop', '10.0.0.1', ['1.2.3.4,'], '10.0.0.1'],
  ['ports', '10.0.0.1', ['203.0.113.9:5555'], '203.0.113.9'],
  ['IPv6', '::1', ['[2001:db8::1]:443, fd00::2'], '2001:db8::1'],
  ['IPv4 on a socket of IPv6', '::ffff:10.0.0.1', ['203.0.113.9'], '203.0.113.9'],
])('finds the address of %s', (_, peer, forwarded, address) => {
  expect(clientAddressOf(peer, forwarded, trusted)).toBe(address);
});

it('believes no forwarded address without trusted proxies', () => {
  expect(clientAddressOf('127.0.0.1', ['1.2.3.4'], [])).toBe('127.0.0.1');
});
