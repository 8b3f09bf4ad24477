import { shownClickhouseAddress } from '../kit/net/clickhouse-address.ts';
import { shownDatabaseAddress } from '../kit/net/database-address.ts';
import { shownRedisAddress } from '../kit/net/redis-address.ts';
import { urlOf } from '../kit/net/url-of.ts';
import type { Runtime } from './runtime.ts';
import type { Config } from './schema/schema.ts';

export function redactedConfig(config: Config): Config {
  const { web } = config.plugins;
  const { sandbox, mcp_servers: mcpServers } = config.tools;
  const { s3 } = config.storage;
  const { otlp } = config.observability;
  return {
    ...config,
    providers: config.providers.map((provider) => ({
      ...provider,
      ...(provider.api_key && { api_key: redacted(provider.api_key) }),
      headers: mapValues(provider.headers, redacted),
    })),
    workspaces: config.workspaces.map((workspace) => ({
      ...workspace,
      ...(workspace.keys && {
        keys: workspace.keys.map((key) => ({ ...key, ...(key.secret && { secret: redacted(key.secret) }) })),
      }),
      ...(workspace.byok && {
        byok: workspace.byok.map((credential) => ({ ...credential, api_key: redacted(credential.api_key) })),
      }),
      ...(workspace.destinations && {
        destinations: workspace.destinations.map((destination) => ({
          ...destination,
          config: mapValues(destination.config, shownMember),
        })),
      }),
    })),
    storage: {
      ...config.storage,
      ...(s3 && {
        s3: {
          ...s3,
          access_key_id: redacted(s3.access_key_id),
          secret_access_key: redacted(s3.secret_access_key),
          ...(s3.session_token && { session_token: redacted(s3.session_token) }),
        },
      }),
    },
    observability: {
      ...config.observability,
      ...(otlp && { otlp: { ...otlp, headers: mapValues(otlp.headers, redacted) } }),
    },
    metrics: {
      ...config.metrics,
      ...(config.metrics.token && { token: redacted(config.metrics.token) }),
    },
    tools: {
      ...config.tools,
      ...(sandbox && { sandbox: { ...sandbox, ...(sandbox.token && { token: redacted(sandbox.token) }) } }),
      mcp_servers: mapValues(mcpServers, (server) => ({
        ...server,
        url: maskedUrl(server.url),
        ...(server.authorization && { authorization: redacted(server.authorization) }),
        headers: mapValues(server.headers, redacted),
      })),
    },
    plugins: {
      ...config.plugins,
      ...(web && {
        web: {
          ...web,
          engines: mapValues(web.engines, (engine) => ({
            ...engine,
            ...(engine.api_key && { api_key: redacted(engine.api_key) }),
            ...(engine.url && { url: maskedUrl(engine.url) }),
          })),
        },
      }),
    },
  };
}

/** Flags and environment with secrets masked, by the names of the documentation. */
export function redactedRuntime(runtime: Runtime): Record<string, string | number> {
  const optional = {
    management_key: mask(runtime.managementKey, redacted),
    api_key: mask(runtime.apiKey, redacted),
    encryption_key: mask(runtime.encryptionKey, redacted),
    database_url: runtime.database && shownDatabaseAddress(runtime.database, HIDDEN),
    workers: runtime.workers,
    redis_url: runtime.redis && shownRedisAddress(runtime.redis, HIDDEN),
    database_migrate: runtime.mayMigrate ? undefined : 'false',
    clickhouse_url: runtime.clickhouse && shownClickhouseAddress(runtime.clickhouse, HIDDEN),
  };
  return {
    host: runtime.host,
    port: runtime.port,
    data_dir: runtime.dataDir,
    log_level: runtime.logLevel,
    ...Object.fromEntries(Object.entries(optional).filter(([, value]) => value !== undefined)),
  } as Record<string, string | number>;
}

function mask(secret: string | undefined, how: (secret: string) => string): string | undefined {
  return secret === undefined ? undefined : how(secret);
}

const HIDDEN = '***';

/** Ranges of length that are shown: enough to notice an empty or cut value, useless for guessing it. */
const LENGTHS: readonly (readonly [below: number, words: string])[] = [
  [16, 'under-16'],
  [64, '16-to-63'],
  [Number.POSITIVE_INFINITY, '64-or-more'],
];

/** Shows no character of a secret: printed configurations end up in tickets and chats. */
function redacted(secret: string): string {
  const words = LENGTHS.find(([below]) => secret.length < below)?.[1];
  return `${HIDDEN}(${words}-characters)`;
}

function maskedUrl(address: string): string {
  const url = urlOf(address);
  if (url === undefined) return HIDDEN;
  if (url.password !== '') url.password = HIDDEN;
  // Some services take their password as a parameter.
  for (const name of [...url.searchParams.keys()]) url.searchParams.set(name, HIDDEN);
  return url.href;
}

type DestinationConfig = NonNullable<Config['workspaces'][number]['destinations']>[number]['config'];

/** A member of a destination. Which of them are secret, only its type knows: all but plain addresses are masked. */
function shownMember(member: DestinationConfig[string]): DestinationConfig[string] {
  if (member === null) return null;
  if (typeof member !== 'string') return mapValues(member, redacted);
  const url = /^https?:/.test(member) ? urlOf(member) : undefined;
  return url === undefined || url.username !== '' ? redacted(member) : maskedUrl(member);
}

function mapValues<T, U>(record: Readonly<Record<string, T>>, map: (value: T) => U): Record<string, U> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, map(value)]));
}
