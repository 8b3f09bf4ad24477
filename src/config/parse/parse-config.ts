import { isJsonObject } from '../../kit/json/json.ts';
import { compileValidator, type Issue } from '../../kit/json/validate.ts';
import { runAtOnce, runInTurns, type Sliced } from '../../kit/loop/turns.ts';
import type { Problem } from '../problem.ts';
import { type Config, configSchema } from '../schema/schema.ts';
import { CATALOGUE_SECTIONS, commandSections } from './command-sections.ts';
import { crossChecks } from './cross-checks.ts';
import { type Environment, fillVariables, markVariables } from './environment.ts';
import { explainIssues } from './explain.ts';
import { compileDefaults } from './fill-defaults.ts';
import { MAX_COUNTED_PROBLEMS, MAX_PROBLEMS } from './first-problems.ts';
import type { EnvironmentKey, KnownProviders } from './known-providers.ts';
import { likelyMistakes } from './likely-mistakes.ts';
import { compileNotations } from './notations.ts';
import { inWholeFile, JoinedPortions, portionsOf } from './portions.ts';
import { readYaml, type YamlReading } from './read-yaml.ts';
import { shownProblem } from './shown-text.ts';
import { RemovedPlaces, SoundConfig, soundPart } from './sound-part.ts';
import { readYamlInThread } from './yaml-thread.ts';
import { yamlProblem } from './yaml-words.ts';

/** Larger files are refused: parsing YAML takes seconds and hundreds of times the file's size in memory. */
export const MAX_CONFIG_BYTES = 4_000_000;

export type ConfigReading =
  | {
      readonly ok: true;
      readonly config: Config;
      readonly written: unknown;
      /** Environment variables that are credentials of providers. */
      readonly keys: readonly EnvironmentKey[];
      /** Credentials of the environment that cannot be used, and what is legal but almost surely a mistake. */
      readonly warnings: readonly Problem[];
    }
  | {
      readonly ok: false;
      /** More than are shown; see `firstProblems`. */
      readonly problems: readonly Problem[];
      /** The valid part, for further checks; absent if too much is wrong. */
      readonly sound?: SoundConfig;
    };

/**
 * `commands`: what a command needs, without the secrets that only a serving gateway has. `catalogue`: the models of the
 * file too, and the providers that this environment switches on.
 */
export type ConfigScope = 'whole' | 'commands' | 'catalogue';

const validator = compileValidator(configSchema, MAX_COUNTED_PROBLEMS);
const fillDefaults = compileDefaults(configSchema);
const readNotations = compileNotations(configSchema);

/**
 * Parses a configuration file: YAML 1.2 without tags; fills in variables, reads units and prices per million, fills in
 * defaults, then checks. `written` is what the file itself sets; `config` also has the providers whose keys are in the
 * environment. No problem quotes a value, because any value may be a secret.
 */
export function parseConfig(
  text: string,
  environment: Environment,
  knownProviders: KnownProviders,
  scope: ConfigScope = 'whole',
): ConfigReading {
  const reading = readYaml(markVariables(text));
  try {
    return runAtOnce(checkedConfig(reading, environment, knownProviders, scope));
  } catch (error) {
    return tooDeep(error);
  }
}

/** `parseConfig` with YAML parsed in another thread, and checks in slices beside requests. */
export async function parseConfigInThread(
  text: string,
  environment: Environment,
  knownProviders: KnownProviders,
): Promise<ConfigReading> {
  const reading = await readYamlInThread(markVariables(text));
  try {
    return await runInTurns(checkedConfig(reading, environment, knownProviders, 'whole'));
  } catch (error) {
    return tooDeep(error);
  }
}

function tooDeep(error: unknown): ConfigReading {
  if (error instanceof RangeError) return refused([problem('is nested too deep to be read')]);
  throw error;
}

/** Sections that only LiteLLM's proxy has. */
const LITELLM_KEYS = ['model_list', 'litellm_settings', 'router_settings', 'general_settings'];

const LITELLM_ADVICE =
  'is one of LiteLLM; here providers and models are listed apart: docs/guide/configuration.md, "From LiteLLM", shows how';

function* checkedConfig(
  reading: YamlReading,
  environment: Environment,
  knownProviders: KnownProviders,
  scope: ConfigScope,
): Sliced<ConfigReading> {
  if (!reading.ok) {
    return refused('reason' in reading ? [problem(reading.reason)] : reading.problems.map(yamlProblem));
  }
  const value = reading.value ?? {};
  if (!isJsonObject(value)) return refused([problem('must hold keys and values')]);
  if (LITELLM_KEYS.some((key) => key in value)) return refused([problem(LITELLM_ADVICE)]);
  if (!looksLikeConfig(value)) {
    return refused([problem('has none of the keys of a configuration file; is it the right file?')]);
  }
  const needed = neededOf(value, environment, scope);
  const { filled, sound, removed, wrong } = yield* filledAndChecked(needed, environment);
  const first = [...filled.problems, ...wrong];
  if (sound === undefined) return refused(first);
  if (scope !== 'whole') {
    if (first.length > 0) return refused(first);
    const config = scope === 'catalogue' ? completed(sound, environment, knownProviders) : sound;
    return { ok: true, config, written: filled.value, keys: [], warnings: [] };
  }
  const completion = knownProviders.complete(sound.providers, environment);
  const { providers, keys, warnings } = completion;
  const config: Config = { ...sound, providers: [...providers] };
  const crossProblems = yield* firstOf(crossChecks(config, knownProviders), MAX_COUNTED_PROBLEMS);
  const soundConfig = new SoundConfig(config, filled.value, removed);
  soundConfig.report(first);
  const all = [...first, ...soundConfig.further([...completion.problems, ...crossProblems])];
  soundConfig.report(all.slice(first.length));
  if (all.length > 0) return { ...refused(all), sound: soundConfig };
  const likely = yield* firstOf(likelyMistakes(value, config), MAX_PROBLEMS);
  return {
    ok: true,
    config,
    written: filled.value,
    keys,
    warnings: [...warnings, ...likely].map(shownProblem),
  };
}

interface FilledAndChecked {
  /** The file with its variables filled in, and those that are not set. */
  readonly filled: { readonly value: unknown; readonly problems: readonly Issue[] };
  /** The valid part of the file, with defaults; undefined if too much is wrong. */
  readonly sound: Config | undefined;
  /** Places of the file that are not in `sound`. */
  readonly removed: RemovedPlaces;
  readonly wrong: readonly Problem[];
}

function* filledAndChecked(file: object, environment: Environment): Sliced<FilledAndChecked> {
  const filled = new JoinedPortions();
  const complete = new JoinedPortions();
  const unfilled: Issue[] = [];
  const unset = new Set<string>();
  const wrong: Problem[] = [];
  const removed: string[] = [];
  let isSound = true;
  for (const portion of portionsOf(file)) {
    const { value, problems } = fillVariables(portion.value, environment);
    const plain = readNotations(value);
    const withDefaults = fillDefaults(plain.value);
    filled.add(value);
    for (const problem of problems.map((one) => inWholeFile(portion, one))) {
      unfilled.push(problem);
      unset.add(problem.path);
    }
    const issues = validator.issuesOf(withDefaults);
    const found = [...plain.problems, ...explainIssues(issues, plain.value)];
    // Of a place whose variable is not set nothing else is said.
    wrong.push(...found.map((one) => inWholeFile(portion, one)).filter(({ path }) => !unset.has(path)));
    const sound = soundPart(withDefaults, issues, validator, fillDefaults);
    complete.add(sound?.value ?? {});
    removed.push(...(sound?.removed ?? []).map((path) => inWholeFile(portion, { path }).path));
    // No more than these are shown, and the rest is counted.
    isSound &&= sound !== undefined && wrong.length < MAX_PROBLEMS;
    if (wrong.length >= MAX_COUNTED_PROBLEMS) break;
    yield;
  }
  return {
    filled: { value: filled.value, problems: unfilled },
    sound: isSound ? (complete.value as Config) : undefined,
    removed: new RemovedPlaces(removed),
    wrong,
  };
}

function neededOf(file: object, environment: Environment, scope: ConfigScope): object {
  if (scope === 'whole') return file;
  return commandSections(file, environment, scope === 'catalogue' ? CATALOGUE_SECTIONS : undefined);
}

/**
 * The configuration with the providers and credentials of this environment. Those that cannot be used are
 * left out.
 */
function completed(config: Config, environment: Environment, knownProviders: KnownProviders): Config {
  return { ...config, providers: [...knownProviders.complete(config.providers, environment).providers] };
}

/**
 * False for a file that is no configuration, whose keys may be secrets and must not be shown. A single plain word
 * counts as a section with a typing error.
 */
function looksLikeConfig(value: object): boolean {
  const names = Object.keys(value);
  if (names.length === 0 || names.some((name) => SECTIONS.has(name.toLowerCase()))) return true;
  return names.length === 1 && /^[a-z_-]{1,32}$/.test(names[0] ?? '');
}

const SECTIONS: ReadonlySet<string> = new Set(Object.keys(configSchema.properties));

function refused(problems: readonly Problem[]): Extract<ConfigReading, { readonly ok: false }> {
  return { ok: false, problems: problems.slice(0, MAX_COUNTED_PROBLEMS).map(shownProblem) };
}

/** The first items; undefined among them ends a slice. */
function* firstOf<T>(items: Iterable<T | undefined>, most: number): Sliced<T[]> {
  const first: T[] = [];
  for (const item of items) {
    if (first.length >= most) break;
    if (item === undefined) yield;
    else first.push(item);
  }
  return first;
}

function problem(reason: string): Issue {
  return { path: '', message: `the configuration ${reason}` };
}
