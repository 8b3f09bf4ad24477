import { type IpRange, isInRange, parseIp, parseIpRange } from './egress.ts';

/** Proxies whose `X-Forwarded-For` is believed. */
export type TrustedProxies = readonly IpRange[];

/** Reads addresses and ranges that were checked. */
export function parseTrustedProxies(texts: readonly string[]): TrustedProxies {
  return texts.flatMap((text) => parseIpRange(text) ?? []);
}

/**
 * The address of a caller. `X-Forwarded-For` is read from the right, where each proxy appends the address that it saw,
 * for as long as the address before is that of a trusted proxy. So what the caller itself wrote is never believed.
 */
export function clientAddressOf(
  peer: string,
  forwardedFor: readonly string[],
  trusted: TrustedProxies,
): string {
  let address = plain(peer);
  if (trusted.length === 0 || forwardedFor.length === 0) return address;
  const hops = forwardedFor.join(',').split(',');
  while (isTrusted(address, trusted)) {
    const hop = addressOfHop(hops.pop());
    if (hop === undefined) break;
    address = hop;
  }
  return address;
}

function isTrusted(address: string, trusted: TrustedProxies): boolean {
  const parsed = parseIp(address);
  return parsed !== undefined && trusted.some((range) => isInRange(range, parsed));
}

/** Some proxies append the port. Undefined for anything but an address. */
function addressOfHop(hop: string | undefined): string | undefined {
  const text = hop?.trim() ?? '';
  const [, host = text] = /^\[([^\]]+)\](?::\d+)?$/.exec(text) ?? /^([\d.]+):\d+$/.exec(text) ?? [];
  return parseIp(host) === undefined ? undefined : plain(host);
}

/** IPv4 as such, also where the socket is of IPv6. */
function plain(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, '');
}
