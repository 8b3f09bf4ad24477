import { createHash } from 'node:crypto';
import { boundedText } from '../../kit/json/bounded-json.ts';
import { isJsonObject, type Json, type JsonObject } from '../../kit/json/json.ts';
import { formsOfAll, REDACTED } from '../../upstream/call/redact.ts';
import { withoutKnownSecrets } from '../../upstream/call/without-secrets.ts';

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

/** Limits of one exchange with a server. */
export interface McpLimits {
  /** Milliseconds until a result is there, a list with all its pages included. */
  readonly totalMs: number;
  /** Bytes of one reply. */
  readonly readBytes: number;
  /** Characters of a result. */
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

/** Shorter values are no secrets: removing them would tear ordinary words apart. */
const MIN_SECRET_CHARACTERS = 8;

/** The secrets of a server: values of its headers, those of an `Authorization` header without their scheme too. */
export function secretsOf({ headers }: RemoteServer): readonly string[] {
  return Object.entries(headers)
    .filter(([name]) => !PLAIN_HEADERS.test(name))
    .flatMap(([, value]) => [value, ...value.split(/\s+/).slice(1)])
    .filter(({ length }) => length >= MIN_SECRET_CHARACTERS);
}

/** Removes a server's secrets from texts that it sends, in whatever form it echoes them. */
export interface SecretRemover {
  (text: string): string;
  /** At most so many characters of a text: what is cut off ends no secret in its middle. */
  bounded(text: string, maxCharacters: number): string;
}

/** Characters beyond a limit that are read, so that a secret at the limit is found whole. */
const BEYOND_LIMIT = 16_384;

export function secretRemover(server: RemoteServer): SecretRemover {
  const forms = formsOfAll(secretsOf(server));
  const remove = (text: string) => withoutKnownSecrets(text, { forms, replacement: REDACTED });
  return Object.assign(remove, {
    bounded(text: string, maxCharacters: number): string {
      const read = maxCharacters + BEYOND_LIMIT;
      if (text.length <= read) return boundedText(remove(text), maxCharacters);
      // The beginning of a secret may stand at the end of what was read: it is not shown, however much was removed.
      return boundedText(remove(text.slice(0, read)).slice(0, -BEYOND_LIMIT), maxCharacters);
    },
  });
}

/** A value whose strings and names of members hold no secret. */
export function cleared(value: Json, withoutSecrets: SecretRemover): Json {
  if (typeof value === 'string') return withoutSecrets(value);
  if (Array.isArray(value)) return value.map((each) => cleared(each, withoutSecrets));
  if (!isJsonObject(value)) return value;
  const members = Object.entries(value).map(([name, member]) => [
    withoutSecrets(name),
    cleared(member ?? null, withoutSecrets),
  ]);
  return Object.fromEntries(members) as JsonObject;
}
