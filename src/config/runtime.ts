import { resolve } from 'node:path';
import type { Issue } from '../kit/json/validate.ts';
import { LOG_LEVELS, type LogLevel } from '../kit/log/log-level.ts';
import { mayColour } from '../kit/log/may-colour.ts';
import { type ClickhouseAddress, parseClickhouseAddress } from '../kit/net/clickhouse-address.ts';
import { type DatabaseAddress, parseDatabaseAddress } from '../kit/net/database-address.ts';
import { parseRedisAddress, type RedisAddress } from '../kit/net/redis-address.ts';
import { defaultDataDirectory, isInstalledProgram } from './data-directory.ts';
import type { Environment } from './parse/environment.ts';
import { MAX_WORKERS, type WorkerCount } from './worker-count.ts';

/** Flags as typed. They override the environment, which overrides the file. */
export interface Flags {
  readonly port?: string | undefined;
  readonly host?: string | undefined;
  readonly config?: string | undefined;
  readonly dataDir?: string | undefined;
  readonly workers?: string | undefined;
}

/** Settings from flags and environment, fixed for the life of the process. */
export interface Runtime {
  readonly host: string;
  /** 0 = chosen by the system. */
  readonly port: number;
  /** Absolute. */
  readonly dataDir: string;
  readonly logLevel: LogLevel;
  /** Text on a terminal may have colours. */
  readonly colours?: boolean | undefined;
  /** Serving processes, by `--workers`; undefined = as `server.workers` of the file says. */
  readonly workers?: WorkerCount | undefined;
  readonly managementKey?: string | undefined;
  readonly apiKey?: string | undefined;
  /** 32 bytes in base64. */
  readonly encryptionKey?: string | undefined;
  /** PostgreSQL, which replaces the database in the data directory. */
  readonly database?: DatabaseAddress | undefined;
  /** Redis, which carries limits of requests, stickiness and health between gateways. */
  readonly redis?: RedisAddress | undefined;
  /** Whether a start may change the schema of the database. */
  readonly mayMigrate: boolean;
  /** ClickHouse, which has the events instead of a file in the data directory. */
  readonly clickhouse?: ClickhouseAddress | undefined;
}

/** Reads flags and environment. For an invalid value adds to `problems` and uses the default. */
export function readRuntime(flags: Flags, env: Environment, cwd: string, problems: Issue[]): Runtime {
  const managementKey = readSecret(env, 'SIGNALBOX_MANAGEMENT_KEY', problems);
  const apiKey = readSecret(env, 'SIGNALBOX_API_KEY', problems);
  if (managementKey !== undefined && managementKey === apiKey) {
    problems.push({ path: 'SIGNALBOX_API_KEY', message: 'must differ from SIGNALBOX_MANAGEMENT_KEY' });
  }
  return {
    host: withoutBrackets(flags.host ?? variableOf(env, 'HOST') ?? '127.0.0.1'),
    port: readInteger(flags.port, '--port', env, 'PORT', { least: 0, most: 65_535, absent: 8787 }, problems),
    dataDir: dataDirectoryOf(flags, env, cwd),
    logLevel: readLogLevel(env, problems),
    colours: mayColour(env),
    workers: readWorkers(flags.workers, problems),
    managementKey,
    apiKey,
    encryptionKey: readEncryptionKey(env, problems),
    database: readDatabase(env, problems),
    redis: readRedis(env, problems),
    mayMigrate: readSwitch(env, 'DATABASE_MIGRATE', true, problems),
    clickhouse: readClickhouse(env, problems),
  };
}

export function dataDirectoryOf(flags: Flags, env: Environment, cwd: string): string {
  const given = flags.dataDir ?? variableOf(env, 'SIGNALBOX_DATA_DIR');
  if (given !== undefined) return resolve(cwd, given);
  return defaultDataDirectory({ env, cwd, isInstalled: isInstalledProgram() });
}

/** A variable; empty counts as unset, because container tools pass unset variables on as empty. */
export function variableOf(env: Environment, name: string): string | undefined {
  const value = env[name];
  return value === undefined || value === '' ? undefined : value;
}

function readInteger(
  flag: string | undefined,
  flagName: string,
  env: Environment,
  variable: string | undefined,
  range: { least: number; most: number; absent: number },
  problems: Issue[],
): number {
  const fromEnvironment = variable === undefined ? undefined : variableOf(env, variable);
  const text = flag ?? fromEnvironment;
  if (text === undefined) return range.absent;
  const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= range.least && value <= range.most) return value;
  const path = flag !== undefined || variable === undefined ? flagName : variable;
  problems.push({ path, message: `must be a whole number from ${range.least} to ${range.most}` });
  return range.absent;
}

function readWorkers(flag: string | undefined, problems: Issue[]): WorkerCount | undefined {
  if (flag === undefined || flag === 'auto') return flag;
  const count = /^\d{1,9}$/.test(flag) ? Number(flag) : Number.NaN;
  if (count >= 1 && count <= MAX_WORKERS) return count;
  problems.push({ path: '--workers', message: `must be a whole number from 1 to ${MAX_WORKERS}, or auto` });
  return undefined;
}

function readLogLevel(env: Environment, problems: Issue[]): LogLevel {
  const text = variableOf(env, 'LOG_LEVEL')?.toLowerCase() ?? 'info';
  const level = LOG_LEVELS.find((name) => name === text);
  if (level === undefined)
    problems.push({ path: 'LOG_LEVEL', message: `must be one of ${LOG_LEVELS.join(', ')}` });
  return level ?? 'info';
}

/** A key of the gateway. Short ones are refused: any client that reaches the gateway can guess keys. */
function readSecret(env: Environment, name: string, problems: Issue[]): string | undefined {
  const secret = variableOf(env, name);
  if (secret === undefined || /^[\x21-\x7e]{16,512}$/.test(secret)) return secret;
  problems.push({ path: name, message: 'must be 16 to 512 printable characters without spaces' });
  return undefined;
}

function readEncryptionKey(env: Environment, problems: Issue[]): string | undefined {
  const key = variableOf(env, 'SIGNALBOX_ENCRYPTION_KEY');
  if (key === undefined || isEncryptionKey(key)) return key;
  problems.push({ path: 'SIGNALBOX_ENCRYPTION_KEY', message: 'must be 32 bytes in base64' });
  return undefined;
}

function readSwitch(env: Environment, name: string, absent: boolean, problems: Issue[]): boolean {
  const text = variableOf(env, name)?.toLowerCase();
  if (text !== undefined && text !== 'true' && text !== 'false') {
    problems.push({ path: name, message: 'must be true or false' });
  }
  return text === undefined ? absent : text === 'true';
}

function readDatabase(env: Environment, problems: Issue[]): DatabaseAddress | undefined {
  const text = variableOf(env, 'DATABASE_URL');
  if (text === undefined) return undefined;
  const reading = parseDatabaseAddress(text);
  if (reading.ok) return reading.address;
  problems.push({ path: 'DATABASE_URL', message: reading.problem });
  return undefined;
}

function readClickhouse(env: Environment, problems: Issue[]): ClickhouseAddress | undefined {
  const text = variableOf(env, 'CLICKHOUSE_URL');
  if (text === undefined) return undefined;
  const reading = parseClickhouseAddress(text);
  if (reading.ok) return reading.address;
  problems.push({ path: 'CLICKHOUSE_URL', message: reading.problem });
  return undefined;
}

function readRedis(env: Environment, problems: Issue[]): RedisAddress | undefined {
  const text = variableOf(env, 'REDIS_URL');
  if (text === undefined) return undefined;
  const reading = parseRedisAddress(text);
  if (reading.ok) return reading.address;
  problems.push({ path: 'REDIS_URL', message: reading.problem });
  return undefined;
}

function isEncryptionKey(text: string): boolean {
  return /^[A-Za-z0-9+/]{43}=$/.test(text);
}

/** An IPv6 address as sockets take it: URLs have brackets around it. */
function withoutBrackets(host: string): string {
  return host.replace(/^\[([0-9a-f:.]+(?:%\w+)?)\]$/i, '$1');
}
