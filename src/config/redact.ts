import { maskedLabel } from '../kit/masked-label.ts';
import type { Runtime } from './load.ts';
import type { Config } from './schema.ts';

/** The configuration with every secret replaced by its masked label: for printing, never for use. */
export function redactedConfig(config: Config): Config {
  const { web } = config.plugins;
  return {
    ...config,
    providers: config.providers.map((provider) => ({
      ...provider,
      ...(provider.api_key && { api_key: maskedCredential(provider.api_key) }),
      headers: mapValues(provider.headers, maskedLabel),
    })),
    plugins: {
      ...config.plugins,
      ...(web && {
        web: {
          ...web,
          engines: mapValues(web.engines, (engine) => ({
            ...engine,
            ...(engine.api_key && { api_key: maskedCredential(engine.api_key) }),
            ...(engine.url && { url: maskedUrl(engine.url) }),
          })),
        },
      }),
    },
  };
}

/** What flags and environment say, secrets masked, in the names of the environment's table. */
export function redactedRuntime(runtime: Runtime): Record<string, string | number> {
  const optional = {
    management_key: mask(runtime.managementKey, maskedLabel),
    api_key: mask(runtime.apiKey, maskedLabel),
    encryption_key: mask(runtime.encryptionKey, () => '...'),
    database_url: mask(runtime.databaseUrl, maskedUrl),
    redis_url: mask(runtime.redisUrl, maskedUrl),
    clickhouse_url: mask(runtime.clickhouseUrl, maskedUrl),
  };
  return {
    host: runtime.host,
    port: runtime.port,
    data_dir: runtime.dataDir,
    log_level: runtime.logLevel,
    workers: runtime.workers,
    ...Object.fromEntries(Object.entries(optional).filter(([, value]) => value !== undefined)),
  } as Record<string, string | number>;
}

function mask(secret: string | undefined, how: (secret: string) => string): string | undefined {
  return secret === undefined ? undefined : how(secret);
}

/** Credentials that are JSON show nothing: their first and last characters may belong to a secret inside. */
function maskedCredential(secret: string): string {
  return /^\s*[{[]/.test(secret) ? '...' : maskedLabel(secret);
}

function maskedUrl(address: string): string {
  if (!URL.canParse(address)) return '...';
  const url = new URL(address);
  if (url.password !== '') url.password = '...';
  // Some services take their password as a parameter.
  for (const name of [...url.searchParams.keys()]) url.searchParams.set(name, '...');
  return url.href;
}

function mapValues<T, U>(record: Readonly<Record<string, T>>, map: (value: T) => U): Record<string, U> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, map(value)]));
}
