import { isIPv4, isIPv6 } from 'node:net';

/** An address as a number. */
export interface IpAddress {
  readonly family: 4 | 6;
  readonly value: bigint;
}

/** All addresses of a family that share the first `bits` bits. */
export interface IpRange extends IpAddress {
  readonly bits: number;
}

const WIDTH = { 4: 32, 6: 128 } as const;

/** Reads an address in its usual notation; undefined for anything else, zone ids included. */
export function parseIp(text: string): IpAddress | undefined {
  if (isIPv4(text)) return { family: 4, value: numberOf(text.split('.').map(Number), 8n) };
  // A zone says on which wire an address is; it is no part of the address itself, and nobody else's business.
  if (!isIPv6(text) || text.includes('%')) return undefined;
  return { family: 6, value: numberOf(groupsOf(text), 16n) };
}

/** Reads `10.0.0.0/8`, or one address; undefined for anything else. */
export function parseIpRange(text: string): IpRange | undefined {
  const [, base = text, length] = /^([^/]+)\/(\d{1,3})$/.exec(text) ?? [];
  const address = parseIp(base);
  if (address === undefined) return undefined;
  const bits = length === undefined ? WIDTH[address.family] : Number(length);
  return bits <= WIDTH[address.family] ? { ...address, bits } : undefined;
}

/** Whether an address lies in a range. */
export function isInRange({ family, value }: IpAddress, range: IpRange): boolean {
  if (family !== range.family) return false;
  const rest = BigInt(WIDTH[family] - range.bits);
  return value >> rest === range.value >> rest;
}

function numberOf(digits: readonly number[], bitsPerDigit: bigint): bigint {
  return digits.reduce((value, digit) => (value << bitsPerDigit) | BigInt(digit), 0n);
}

/** The eight groups of a valid IPv6 address. */
function groupsOf(text: string): number[] {
  const [head = '', tail] = text.split('::');
  const first = groupsOfPart(head);
  if (tail === undefined) return first;
  const last = groupsOfPart(tail);
  return [...first, ...Array<number>(8 - first.length - last.length).fill(0), ...last];
}

function groupsOfPart(part: string): number[] {
  if (part === '') return [];
  return part.split(':').flatMap((group) => {
    if (!group.includes('.')) return [Number.parseInt(group, 16)];
    const [a = 0, b = 0, c = 0, d = 0] = group.split('.').map(Number);
    return [(a << 8) | b, (c << 8) | d];
  });
}
