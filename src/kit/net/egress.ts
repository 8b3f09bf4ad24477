import { BlockList, isIPv4, isIPv6 } from 'node:net';

/*
 * Addresses that a tenant, a page or a model names must lead to the public internet and not to this machine, its
 * network or its cloud's metadata, unless the operator allows it.
 */

/** An address without a zone. */
export interface IpAddress {
  readonly family: 'ipv4' | 'ipv6';
  readonly text: string;
}

/** Addresses that share their first bits; those of IPv4 also as embedded in IPv6. */
export interface IpRange {
  readonly family: IpAddress['family'];
  readonly list: BlockList;
}

/** Private addresses and unusual ports that the operator allows. */
export interface EgressRules {
  readonly rules: readonly EgressRule[];
}

interface EgressRule {
  /** A name, with `*.` in front for everything below it; or a range of addresses. */
  readonly target: string | IpRange;
  /** Undefined = every port. */
  readonly port: number | undefined;
}

/** Nothing but the public internet. */
export const NO_EGRESS_RULES: EgressRules = { rules: [] };

/**
 * Reads rules that were checked: `host`, `*.host`, `address`, `range/bits`, the first three with or without `:port`.
 */
export function parseEgressRules(texts: readonly string[]): EgressRules {
  return {
    rules: texts.map((text) => {
      const [, host = text, port] =
        /^\[([^\]]+)\](?::(\d+))?$/.exec(text) ?? /^([^:]*):(\d+)$/.exec(text) ?? [];
      return {
        target: parseIpRange(host) ?? host.toLowerCase(),
        port: port === undefined ? undefined : Number(port),
      };
    }),
  };
}

const USUAL_PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 };

/** Names that mean this machine or this network wherever they are looked up. */
const PRIVATE_NAMES =
  /^(?:localhost|ip6-localhost|ip6-loopback|(?:.*\.)?(?:localhost|localdomain|local|internal))$/;

/**
 * Why an address must not be reached, as far as it can be told without looking names up; undefined when it may be.
 * The reason follows the name of the field and never quotes it.
 */
export function egressProblem(url: URL, { rules }: EgressRules): string | undefined {
  const usualPort = USUAL_PORTS[url.protocol];
  if (usualPort === undefined) return 'must begin with https:// or http://';
  if (url.username !== '' || url.password !== '') return 'must not hold a user or password';
  const host = hostOf(url);
  const port = url.port === '' ? usualPort : Number(url.port);
  const address = parseIp(host);
  const isAllowed = rules.some(
    (rule) => fitsPort(rule, port) && (fitsName(rule, host) || fitsAddress(rule, address)),
  );
  if (isAllowed) return undefined;
  if (port !== 80 && port !== 443) return 'names a port other than 80 and 443';
  if (address === undefined ? PRIVATE_NAMES.test(host) : !isPublicIp(address)) {
    return 'names an address that is not public';
  }
  return undefined;
}

/** Whether a name that led to this address may be connected to. */
export function mayConnect(
  { host, port, address }: { readonly host: string; readonly port: number; readonly address: string },
  { rules }: EgressRules,
): boolean {
  const parsed = parseIp(address);
  if (parsed === undefined) return false;
  return (
    isPublicIp(parsed) ||
    rules.some((rule) => fitsPort(rule, port) && (fitsName(rule, host) || fitsAddress(rule, parsed)))
  );
}

/** The host of an address as rules and look-ups know it: lower case, no brackets, no dot at the end. */
export function hostOf({ hostname }: URL): string {
  return hostname
    .toLowerCase()
    .replace(/^\[|\]$/g, '')
    .replace(/\.+$/, '');
}

function fitsPort({ port }: EgressRule, given: number): boolean {
  return port === undefined || port === given;
}

function fitsName({ target }: EgressRule, host: string): boolean {
  if (typeof target !== 'string') return false;
  return target.startsWith('*.') ? host.endsWith(target.slice(1)) : host === target;
}

function fitsAddress({ target }: EgressRule, address: IpAddress | undefined): boolean {
  return typeof target !== 'string' && address !== undefined && isInRange(target, address);
}

export function isInRange(range: IpRange, address: IpAddress): boolean {
  // Node compares IPv4 with ranges of IPv6 as well: `::/0` must not allow all of IPv4.
  const isComparable = range.family === 'ipv4' || address.family === 'ipv6';
  return isComparable && range.list.check(address.text, address.family);
}

/** Reads an address in its usual notation; undefined for anything else, zone ids included. */
export function parseIp(text: string): IpAddress | undefined {
  if (isIPv4(text)) return { family: 'ipv4', text };
  return isIPv6(text) && !text.includes('%') ? { family: 'ipv6', text } : undefined;
}

/** Reads `10.0.0.0/8`, or one address; undefined for anything else. */
export function parseIpRange(text: string): IpRange | undefined {
  const [, base = text, length] = /^([^/]+)\/(\d{1,3})$/.exec(text) ?? [];
  const address = parseIp(base);
  if (address === undefined) return undefined;
  const width = address.family === 'ipv4' ? 32 : 128;
  const bits = length === undefined ? width : Number(length);
  if (bits > width) return undefined;
  const list = new BlockList();
  addRange(list, address, bits);
  return { family: address.family, list };
}

/** Prefixes before an IPv4 address that the network (NAT64), or this machine, reaches instead. */
const EMBEDDING_PREFIXES = ['::ffff:', '64:ff9b::'] as const;

function addRange(list: BlockList, { family, text }: IpAddress, bits: number): void {
  list.addSubnet(text, bits, family);
  if (family === 'ipv6') return;
  for (const prefix of EMBEDDING_PREFIXES) list.addSubnet(`${prefix}${text}`, 96 + bits, 'ipv6');
}

/** IPv4 addresses that are not of the public internet (RFC 6890), and one that a large cloud keeps for itself. */
const PRIVATE_IPV4 = ranges(
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '168.63.129.16/32',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
);

/** The part of IPv6 that is public at all, and what in it is not: tunnels, documentation, tests. */
const PUBLIC_IPV6 = ranges('2000::/3');
const PRIVATE_IPV6 = ranges('2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20');

/** IPv6 addresses that hold an IPv4 address. */
const EMBEDDING_IPV6 = ranges(...EMBEDDING_PREFIXES.map((prefix) => `${prefix}0.0.0.0/96`));

export function isPublicIp({ family, text }: IpAddress): boolean {
  if (family === 'ipv4' || EMBEDDING_IPV6.check(text, family)) return !PRIVATE_IPV4.check(text, family);
  return PUBLIC_IPV6.check(text, family) && !PRIVATE_IPV6.check(text, family);
}

function ranges(...texts: string[]): BlockList {
  const list = new BlockList();
  for (const text of texts) {
    const [base = '', bits] = text.split('/');
    addRange(list, { family: isIPv4(base) ? 'ipv4' : 'ipv6', text: base }, Number(bits));
  }
  return list;
}
