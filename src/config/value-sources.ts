import { isJsonObject } from '../kit/json/json.ts';
import type { LoadedConfiguration } from './load.ts';
import { markVariables, pathOf, variablesIn } from './parse/environment.ts';

import type { Segment } from './parse/schema-at.ts';
import { findPlacesInThread, readYamlInThread } from './parse/yaml-thread.ts';
import { redactedConfig, redactedRuntime } from './redact.ts';
import { type Flags, variableOf } from './runtime.ts';
import { PER_MILLION } from './schema/price-names.ts';
import { shownPrices } from './shown-prices.ts';

export interface ValueSource {
  readonly kind: 'default' | 'file' | 'environment' | 'flag';
  /** Line of the file, from 1; null if the file does not name the value. */
  readonly line: number | null;
  /** Variables of the environment that the value is made from. */
  readonly variables: readonly string[];
  /** The flag as it is typed, such as `--port`. */
  readonly flag: string | null;
}

/** One value in force. Secrets are masked. */
export interface ConfiguredValue {
  readonly key: string;
  /** Scalars, lists of scalars, and empty objects. */
  readonly value: unknown;
  readonly source: ValueSource;
}

/** Flags and variables of the settings that are fixed at the start, by their names in `redactedRuntime`. */
const RUNTIME_SOURCES: Readonly<
  Record<string, { readonly flag?: readonly [keyof Flags, string]; readonly variable?: string }>
> = {
  config_file: { flag: ['config', '--config'], variable: 'SIGNALBOX_CONFIG' },
  host: { flag: ['host', '--host'], variable: 'HOST' },
  port: { flag: ['port', '--port'], variable: 'PORT' },
  data_dir: { flag: ['dataDir', '--data-dir'], variable: 'SIGNALBOX_DATA_DIR' },
  log_level: { variable: 'LOG_LEVEL' },
  workers: { flag: ['workers', '--workers'] },
  management_key: { variable: 'SIGNALBOX_MANAGEMENT_KEY' },
  api_key: { variable: 'SIGNALBOX_API_KEY' },
  encryption_key: { variable: 'SIGNALBOX_ENCRYPTION_KEY' },
  database_url: { variable: 'DATABASE_URL' },
  database_migrate: { variable: 'DATABASE_MIGRATE' },
  redis_url: { variable: 'REDIS_URL' },
  clickhouse_url: { variable: 'CLICKHOUSE_URL' },
};

const DEFAULT: ValueSource = { kind: 'default', line: null, variables: [], flag: null };

/**
 * Every value in force with its source: those of flags and environment first (`runtime.port`), then those of the file.
 * Parses the text of the file again, in another thread.
 */
export async function configuredValues(
  loaded: LoadedConfiguration,
  flags: Flags = {},
): Promise<ConfiguredValue[]> {
  return [...runtimeValues(loaded, flags), ...(await fileValues(loaded))];
}

function runtimeValues({ runtime, file, environment }: LoadedConfiguration, flags: Flags): ConfiguredValue[] {
  const shown = { config_file: file ?? null, ...redactedRuntime(runtime) };
  return Object.entries(shown).map(([name, value]) => {
    const { flag, variable } = RUNTIME_SOURCES[name] ?? {};
    const key = `runtime.${name}`;
    if (flag !== undefined && flags[flag[0]] !== undefined) {
      return { key, value, source: { ...DEFAULT, kind: 'flag', flag: flag[1] } };
    }
    return variable !== undefined && variableOf(environment, variable) !== undefined
      ? { key, value, source: { ...DEFAULT, kind: 'environment', variables: [variable] } }
      : { key, value, source: DEFAULT };
  });
}

interface Leaf {
  readonly path: readonly Segment[];
  readonly value: unknown;
}

async function fileValues(loaded: LoadedConfiguration): Promise<ConfiguredValue[]> {
  const marked = markVariables(loaded.text);
  const reading = await readYamlInThread(marked);
  const written = reading.ok ? reading.value : undefined;
  const leaves = [...leavesOf(shownPrices(redactedConfig(loaded.config)), [])];
  const found = leaves.map(({ path }) => writtenAt(written, path));
  const places = await findPlacesInThread(
    marked,
    found.flatMap((at) => (at === undefined ? [] : [{ segments: at.path, isAtKey: true }])),
  );
  let next = 0;
  return leaves.map(({ path, value }, index) => {
    const at = found[index];
    const line = at === undefined ? null : (places[next++]?.line ?? null);
    const variables = at === undefined ? variablesOf(path, loaded) : variablesInside(at.value);
    const kind = variables.length > 0 ? 'environment' : at === undefined ? 'default' : 'file';
    return { key: pathOf(path), value, source: { kind, line, variables, flag: null } };
  });
}

function* leavesOf(value: unknown, path: readonly Segment[]): Generator<Leaf> {
  if (Array.isArray(value) && value.some(isJsonObject)) {
    for (const [index, member] of value.entries()) yield* leavesOf(member, [...path, index]);
  } else if (isJsonObject(value) && Object.keys(value).length > 0) {
    for (const [name, member] of Object.entries(value)) yield* leavesOf(member, [...path, name]);
  } else if (value !== undefined) yield { path, value };
}

/** The member of the file that sets a value, and its own path: prices may be written per unit or per million. */
function writtenAt(written: unknown, path: readonly Segment[]): Leaf | undefined {
  let value = written;
  const own: Segment[] = [];
  for (const segment of path) {
    const name = namesOf(segment).find((each) => hasMember(value, each));
    if (name === undefined) return undefined;
    value = (value as Record<Segment, unknown>)[name];
    own.push(name);
  }
  return { path: own, value };
}

function namesOf(segment: Segment): readonly Segment[] {
  if (typeof segment === 'number' || !segment.endsWith(PER_MILLION)) return [segment];
  return [segment, segment.slice(0, -PER_MILLION.length)];
}

function hasMember(value: unknown, name: Segment): boolean {
  if (typeof name === 'number') return Array.isArray(value) && name < value.length;
  return isJsonObject(value) && Object.hasOwn(value, name);
}

function variablesInside(value: unknown): readonly string[] {
  if (typeof value === 'string') return variablesIn(value);
  return Array.isArray(value) ? [...new Set(value.flatMap(variablesInside))] : [];
}

/** Variables that switch a provider on, or hold the key of one that the file lists without a key. */
function variablesOf([section, index, member]: readonly Segment[], loaded: LoadedConfiguration) {
  if (section !== 'providers' || typeof index !== 'number') return [];
  const slug = loaded.config.providers[index]?.slug;
  const key = loaded.providerKeys.find((each) => each.slug === slug);
  if (key === undefined) return [];
  return member === 'api_key' || (key.switchesOn && member === 'slug') ? key.variables : [];
}
