import { LineCounter, parseDocument } from 'yaml';
import { isJsonObject } from '../kit/json.ts';
import { compileValidator, type Issue } from '../kit/validate.ts';
import { crossChecks } from './cross-checks.ts';
import { type Environment, fillVariables, markVariables } from './environment.ts';
import { fillDefaults } from './fill-defaults.ts';
import { type Config, configSchema } from './schema.ts';

/** A file is refused above this size, in bytes. */
export const MAX_CONFIG_BYTES = 10_000_000;

/** Aliases (`*name`) that a file may use; each may stand for a whole tree, so many of them make a bomb. */
const MAX_ALIASES = 100;

/** Faults of the YAML itself that are told; the later ones mostly follow from the first. */
const MAX_FAULTS = 20;

/** What a file says, or everything that is wrong with it. */
export type ConfigReading =
  | { readonly ok: true; readonly config: Config; readonly written: unknown }
  | { readonly ok: false; readonly problems: readonly Issue[] };

const validator = compileValidator(configSchema);

/**
 * Reads the text of a configuration file: YAML 1.2 without tags, variables put in, defaults filled in, checked.
 * `written` is what the file itself sets. No problem quotes a value of the file, because any may be a secret.
 */
export function parseConfig(
  text: string,
  environment: Environment,
  knownProviders: ReadonlySet<string>,
): ConfigReading {
  try {
    return readConfig(text, environment, knownProviders);
  } catch (error) {
    if (error instanceof RangeError) return refused('is nested too deep to be read');
    if (error instanceof ReferenceError) return refused(`uses more than ${MAX_ALIASES} aliases`);
    throw error;
  }
}

function readConfig(
  text: string,
  environment: Environment,
  knownProviders: ReadonlySet<string>,
): ConfigReading {
  const yaml = readYaml(markVariables(text));
  if (!yaml.ok) return yaml;
  const filled = fillVariables(yaml.value ?? {}, environment);
  if (filled.problems.length > 0) return { ok: false, problems: filled.problems };
  if (!isJsonObject(filled.value)) return refused('must hold keys and values');
  const complete = fillDefaults(configSchema, filled.value);
  const problems = validator.issuesOf(complete);
  if (problems.length > 0) return { ok: false, problems };
  const config = complete as Config;
  const crossProblems = crossChecks(config, knownProviders);
  if (crossProblems.length > 0) return { ok: false, problems: crossProblems };
  return { ok: true, config, written: filled.value };
}

function refused(reason: string): ConfigReading {
  return { ok: false, problems: [{ path: '', message: `the configuration ${reason}` }] };
}

type YamlReading = { ok: true; value: unknown } | { ok: false; problems: Issue[] };

function readYaml(text: string): YamlReading {
  const lines = new LineCounter();
  const document = parseDocument(text, {
    version: '1.2',
    schema: 'core',
    customTags: [],
    uniqueKeys: true,
    // Pretty errors quote the line, and the line may hold a secret.
    prettyErrors: false,
    lineCounter: lines,
  });
  const faults = [...document.errors, ...document.warnings];
  if (faults.length === 0) return { ok: true, value: document.toJS({ maxAliasCount: MAX_ALIASES }) };
  return {
    ok: false,
    problems: faults.slice(0, MAX_FAULTS).map(({ pos, message }) => {
      const { line, col } = lines.linePos(pos[0]);
      return { path: `line ${line}, column ${col}`, message };
    }),
  };
}
