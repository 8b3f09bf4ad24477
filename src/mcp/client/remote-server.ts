import { createHash } from 'node:crypto';
import { removerOf, type SecretRemover } from '../../kit/secrets/secret-remover.ts';

/** An MCP server that the gateway calls, with the credential of one request. */
export interface RemoteServer {
  /** Name by which requests and answers refer to it. */
  readonly label: string;
  readonly url: string;
  /** Headers of every request, credentials included. They are sent to this server only, and never shown. */
  readonly headers: Readonly<Record<string, string>>;
  /** The operator wrote its address, which may be private; absent = a caller did. */
  readonly isConfigured: boolean;
  /** The server with a new credential after it refused this one; absent = there is no other. */
  readonly renewed?: () => Promise<RemoteServer | undefined>;
}

export interface McpLimits {
  /** Milliseconds until a result is there, a list with all its pages included. */
  readonly totalMs: number;
  /** Bytes of one reply. */
  readonly readBytes: number;
  readonly resultCharacters: number;
}

/** Identifies a server with its credential: what is kept under it is never shared with another credential. */
export function identityOf({ url, headers, isConfigured }: RemoteServer): string {
  const parts = [
    url,
    isConfigured,
    ...Object.entries(headers)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .flat(),
  ];
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url');
}

/** Headers whose values are no secret. */
const PLAIN_HEADERS = /^(?:accept|accept-language|content-type|user-agent)$/i;

/** The secrets of a server: values of its headers, those of an `Authorization` header without their scheme too. */
export function secretsOf({ headers }: RemoteServer): readonly string[] {
  return Object.entries(headers)
    .filter(([name]) => !PLAIN_HEADERS.test(name))
    .flatMap(([, value]) => [value, ...value.split(/\s+/).slice(1)]);
}

export function secretRemover(server: RemoteServer): SecretRemover {
  return removerOf(secretsOf(server));
}
