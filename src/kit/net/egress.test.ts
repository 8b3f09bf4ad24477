import { describe, expect, it } from 'vitest';
import {
  egressProblem,
  isPublicIp,
  mayConnect,
  NO_EGRESS_RULES,
  parseEgressRules,
  parseIp,
  parseIpRange,
} from './egress.ts';

const PRIVATE = 'names an address that is not public';
const PORT = 'names a port other than 80 and 443';

const problemOf = (address: string, ...allow: string[]) =>
  egressProblem(new URL(address), parseEgressRules(allow));

describe('egressProblem', () => {
  it.each([
    'https://api.example.com/v1',
    'https://93.184.216.34/',
    'https://[2606:4700::1111]/',
    'http://example.com/',
    'https://example.com:443/',
    'https://[64:ff9b::5db8:d822]/',
    'https://local.example.com/',
    'https://mylocalhost.example/',
  ])('lets %s out', (address) => {
    expect(problemOf(address)).toBeUndefined();
  });

  it.each([
    'https://localhost/',
    'https://LOCALHOST./',
    'https://a.localhost/',
    'https://metadata.google.internal/',
    'https://printer.local/',
    'https://127.0.0.1/',
    'https://127.1/',
    'https://2130706433/',
    'https://0x7f000001/',
    'https://0x7f.0.0.1/',
    'https://0177.0.0.1/',
    'https://127.0.0.1./',
    'https://0/',
    'https://0.0.0.0/',
    'https://10.1.2.3/',
    'https://172.16.0.1/',
    'https://172.31.255.255/',
    'https://192.168.0.1/',
    'https://169.254.169.254/latest/meta-data/',
    'https://100.64.0.1/',
    'https://100.100.100.200/',
    'https://168.63.129.16/',
    'https://192.0.0.192/',
    'https://198.18.0.1/',
    'https://224.0.0.1/',
    'https://255.255.255.255/',
    'https://１２７.０.０.１/',
    'https://[::]/',
    'https://[::1]/',
    'https://[0:0:0:0:0:0:0:1]/',
    'https://[::127.0.0.1]/',
    'https://[::ffff:127.0.0.1]/',
    'https://[::ffff:7f00:1]/',
    'https://[::ffff:169.254.169.254]/',
    'https://[64:ff9b::7f00:1]/',
    'https://[64:ff9b:1::7f00:1]/',
    'https://[2002:7f00:1::]/',
    'https://[2001:0:7f00:1::]/',
    'https://[fe80::1]/',
    'https://[fc00::1]/',
    'https://[fd00:ec2::254]/',
    'https://[ff02::1]/',
    'https://[2001:db8::1]/',
    'https://[100::1]/',
  ])('keeps %s in', (address) => {
    expect(problemOf(address)).toBe(PRIVATE);
  });

  it.each(['https://example.com:8443/', 'http://example.com:22/', 'http://example.com:0/'])(
    'refuses the port of %s',
    (address) => {
      expect(problemOf(address)).toBe(PORT);
    },
  );

  it.each(['ftp://example.com/', 'file:///etc/passwd', 'gopher://example.com/', 'data:text/plain,x'])(
    'refuses %s',
    (address) => {
      expect(problemOf(address)).toBe('must begin with https:// or http://');
    },
  );

  it('refuses a password', () => {
    expect(problemOf('https://user:pass@example.com/')).toBe('must not hold a user or password');
    expect(problemOf('https://127.0.0.1@example.com/', 'example.com')).toBe(
      'must not hold a user or password',
    );
  });

  it.each([
    ['http://127.0.0.1:9101/', '127.0.0.1'],
    ['http://127.0.0.1:9101/', '127.0.0.1:9101'],
    ['http://127.0.0.1:9101/', '127.0.0.0/8'],
    ['http://2130706433:9101/', '127.0.0.1'],
    ['http://[::ffff:10.0.0.1]/', '10.0.0.0/8'],
    ['http://[::1]:8080/', '::1'],
    ['http://[::1]:8080/', '[::1]:8080'],
    ['http://[fd00::5]/', 'fd00::/8'],
    ['http://localhost:9101/', 'LocalHost:9101'],
    ['https://db.corp.example:8443/', '*.corp.example'],
    ['https://corp.example.:8443/', 'corp.example'],
  ])('lets %s out when %s is allowed', (address, rule) => {
    expect(problemOf(address, 'other.example', rule)).toBeUndefined();
  });

  it.each([
    ['http://127.0.0.1:9102/', '127.0.0.1:9101'],
    ['http://127.0.0.2/', '127.0.0.1'],
    ['http://11.0.0.1:81/', '10.0.0.0/8'],
    ['http://localhost/', '127.0.0.1'],
    ['https://corp.example:8443/', '*.corp.example'],
    ['https://evilcorp.example:8443/', '*.corp.example'],
    ['https://corp.example.evil.test:8443/', 'corp.example'],
  ])('keeps %s in when only %s is allowed', (address, rule) => {
    expect(problemOf(address, rule)).toBeDefined();
  });
});

describe('mayConnect', () => {
  it('judges what a name led to', () => {
    const at = (address: string) => ({ host: 'rebind.example', port: 443, address });
    expect(mayConnect(at('93.184.216.34'), NO_EGRESS_RULES)).toBe(true);
    for (const address of [
      '127.0.0.1',
      '::1',
      '169.254.169.254',
      '::ffff:10.0.0.1',
      'fe80::1%lo',
      'nonsense',
    ]) {
      expect(mayConnect(at(address), NO_EGRESS_RULES), address).toBe(false);
    }
    expect(mayConnect(at('10.0.0.1'), parseEgressRules(['10.0.0.0/8']))).toBe(true);
    expect(mayConnect(at('10.0.0.1'), parseEgressRules(['rebind.example:443']))).toBe(true);
    expect(mayConnect(at('10.0.0.1'), parseEgressRules(['rebind.example:80']))).toBe(false);
  });
});

describe('addresses', () => {
  it('are read in every notation', () => {
    expect(parseIp('1.2.3.4')).toEqual({ family: 'ipv4', text: '1.2.3.4' });
    for (const [text, other] of [
      ['::', '0:0:0:0:0:0:0:0'],
      ['1:2:3:4:5:6:7:8', '0001:0002:0003:0004:0005:0006:0007:0008'],
      ['1::8', '1:0:0:0:0:0:0:8'],
      ['::ffff:1.2.3.4', '::ffff:102:304'],
    ] as const) {
      const { list } = parseIpRange(text)!;
      expect([text, list.check(other, 'ipv6'), list.check('1:2::9', 'ipv6')]).toEqual([text, true, false]);
    }
    expect(parseIp('fe80::1%eth0')).toBeUndefined();
    expect(parseIp('1.2.3')).toBeUndefined();
    expect(parseIpRange('10.0.0.0/33')).toBeUndefined();
    expect(parseIpRange('10.0.0.0/8')?.list.check('10.255.0.1')).toBe(true);
    expect(parseIpRange('10.0.0.0/8')?.list.check('11.0.0.1')).toBe(false);
  });

  it('are compared within their family, but for IPv4 embedded in IPv6', () => {
    const at = (address: string) => ({ host: 'a.example', port: 443, address });
    expect(mayConnect(at('10.0.0.1'), parseEgressRules(['::/0']))).toBe(false);
    expect(mayConnect(at('10.0.0.1'), parseEgressRules(['::ffff:0:0/96']))).toBe(false);
    expect(mayConnect(at('fd00::1'), parseEgressRules(['0.0.0.0/0']))).toBe(false);
    expect(mayConnect(at('::ffff:a00:1'), parseEgressRules(['10.0.0.0/8']))).toBe(true);
    expect(mayConnect(at('64:ff9b::a00:1'), parseEgressRules(['10.0.0.0/8']))).toBe(true);
    expect(mayConnect(at('64:ff9b::a00:1'), parseEgressRules(['11.0.0.0/8']))).toBe(false);
    expect(mayConnect(at('64:ff9b::808:808'), NO_EGRESS_RULES)).toBe(true);
    expect(mayConnect(at('2002:a00:1::'), NO_EGRESS_RULES)).toBe(false);
  });

  it('at the edges of the private ranges are distinguished', () => {
    const isPublic = (text: string) => isPublicIp(parseIp(text)!);
    for (const [inside, outside] of [
      ['10.255.255.255', '11.0.0.0'],
      ['100.127.255.255', '100.128.0.0'],
      ['172.31.255.255', '172.32.0.0'],
      ['172.16.0.0', '172.15.255.255'],
      ['192.168.255.255', '192.169.0.0'],
      ['198.19.255.255', '198.20.0.0'],
      ['169.254.0.0', '169.253.255.255'],
      ['2001:1ff::1', '2001:200::1'],
    ] as const) {
      expect([inside, isPublic(inside)]).toEqual([inside, false]);
      expect([outside, isPublic(outside)]).toEqual([outside, true]);
    }
  });
});
