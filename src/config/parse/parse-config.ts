import * as yaml from 'yaml';
import { isJsonObject } from '../../kit/json/json.ts';
import { compileValidator, type Issue } from '../../kit/json/validate.ts';
import { type Config, configSchema } from '../schema/schema.ts';
import { crossChecks } from './cross-checks.ts';
import { type Environment, fillVariables, markVariables } from './environment.ts';
import { compileDefaults } from './fill-defaults.ts';
import type { EnvironmentKey, KnownProviders } from './known-providers.ts';
import { readYaml, readYamlInThread, type YamlReading } from './read-yaml.ts';
import { shownProblem } from './shown-text.ts';

/** A file is refused above this size, in bytes: reading YAML takes seconds and hundreds of times its size in memory. */
export const MAX_CONFIG_BYTES = 4_000_000;

/** Problems that are told: a file with a million of them must not cost a million lines. */
export const MAX_PROBLEMS = 20;

/** What a file says, or everything that is wrong with it. */
export type ConfigReading =
  | {
      readonly ok: true;
      readonly config: Config;
      readonly written: unknown;
      /** Variables that are credentials of providers. */
      readonly keys: readonly EnvironmentKey[];
      /** Variables that look like credentials and cannot be used. */
      readonly warnings: readonly Issue[];
    }
  | { readonly ok: false; readonly problems: readonly Issue[] };

const validator = compileValidator(configSchema);
const fillDefaults = compileDefaults(configSchema);

/**
 * Reads the text of a configuration file: YAML 1.2 without tags, variables put in, defaults filled in, checked.
 * `written` is what the file itself sets; the configuration also has the providers whose keys are in the environment. No
 * problem quotes a value of the file, because any may be a secret.
 */
export function parseConfig(
  text: string,
  environment: Environment,
  knownProviders: KnownProviders,
): ConfigReading {
  return configOf(readYaml(yaml, markVariables(text)), environment, knownProviders);
}

/** The same as parseConfig; the slow part, reading YAML, happens in a thread of its own. */
export async function parseConfigInThread(
  text: string,
  environment: Environment,
  knownProviders: KnownProviders,
): Promise<ConfigReading> {
  return configOf(await readYamlInThread(markVariables(text)), environment, knownProviders);
}

function configOf(
  reading: YamlReading,
  environment: Environment,
  knownProviders: KnownProviders,
): ConfigReading {
  try {
    return checkedConfig(reading, environment, knownProviders);
  } catch (error) {
    if (error instanceof RangeError) return refused([problem('is nested too deep to be read')]);
    throw error;
  }
}

function checkedConfig(
  reading: YamlReading,
  environment: Environment,
  knownProviders: KnownProviders,
): ConfigReading {
  if (!reading.ok) return refused(reading.problems);
  const value = reading.value ?? {};
  if (!isJsonObject(value)) return refused([problem('must hold keys and values')]);
  if (!looksLikeConfig(value)) {
    return refused([problem('has none of the keys of a configuration file; is it the right file?')]);
  }
  const filled = fillVariables(value, environment);
  if (filled.problems.length > 0) return refused(filled.problems);
  const complete = fillDefaults(filled.value);
  const problems = validator.issuesOf(complete);
  if (problems.length > 0) return refused(problems);
  const written = complete as Config;
  const {
    providers,
    keys,
    warnings,
    problems: keyProblems,
  } = knownProviders.complete(written.providers, environment);
  if (keyProblems.length > 0) return refused(keyProblems);
  const config: Config = { ...written, providers: [...providers] };
  const crossProblems = firstOf(crossChecks(config, knownProviders), MAX_PROBLEMS);
  if (crossProblems.length > 0) return refused(crossProblems);
  return { ok: true, config, written: filled.value, keys, warnings };
}

/**
 * Whether a file is meant as a configuration. The keys of any other may be secrets, so they are not shown. One plain
 * word alone is a section with a typing error.
 */
function looksLikeConfig(value: object): boolean {
  const names = Object.keys(value);
  if (names.length === 0 || names.some((name) => Object.hasOwn(configSchema.properties, name))) return true;
  return names.length === 1 && /^[a-z_-]{1,32}$/.test(names[0] ?? '');
}

function refused(problems: readonly Issue[]): ConfigReading {
  return { ok: false, problems: problems.slice(0, MAX_PROBLEMS).map(shownProblem) };
}

function firstOf<T>(items: Iterable<T>, most: number): T[] {
  const first: T[] = [];
  for (const item of items) {
    if (first.length >= most) break;
    first.push(item);
  }
  return first;
}

function problem(reason: string): Issue {
  return { path: '', message: `the configuration ${reason}` };
}
