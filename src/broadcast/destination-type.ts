import type { ConfigMember } from './config-members.ts';
import type { DestinationTarget, OtlpTarget } from './destination-target.ts';

/** A kind of destination: what its configuration holds, and where that leads. */
export interface DestinationType {
  readonly label: string;
  readonly members: Readonly<Record<string, ConfigMember>>;
  /** `values`: all members that are text, with their defaults; an optional one without a default is empty. */
  target(
    values: Readonly<Record<string, string>>,
    headers: Readonly<Record<string, string>>,
  ): DestinationTarget;
}

export function otlp({
  url,
  method = 'POST',
  encoding = 'protobuf',
  headers,
  resource = {},
  metadataPrefix,
}: Pick<OtlpTarget, 'url' | 'headers'> & Partial<OtlpTarget>): OtlpTarget {
  const named = metadataPrefix === undefined ? {} : { metadataPrefix };
  return { writer: 'otlp', url, method, encoding, headers, resource, ...named };
}

const TRACES_PATH = '/v1/traces';

export function tracesAt(endpoint: string): string {
  const base = trimmed(endpoint);
  return base.endsWith(TRACES_PATH) ? base : base + TRACES_PATH;
}

export function trimmed(url: string): string {
  return url.replace(/\/+$/, '');
}

export function basic(user: string, password: string): string {
  return `Basic ${Buffer.from(`${user}:${password}`, 'utf8').toString('base64')}`;
}
