import { remembered } from '../kit/collections/remembered.ts';
import { isJsonObject, type JsonObject } from '../kit/json/json.ts';
import { compileValidator, type Issue, memberPath } from '../kit/json/validate.ts';
import { urlOf } from '../kit/net/url-of.ts';
import { maskedLabel } from '../kit/text/masked-label.ts';
import type { Destination } from '../ports/following/destinations.ts';
import { configSchema } from './config-members.ts';
import { DESTINATION_TYPES, targetOf } from './destination-types.ts';

/** Secrets by their paths in a configuration: `apiKey`, `headers.authorization`. */
export type Secrets = Readonly<Record<string, string>>;

/** A configuration in the two parts that are stored apart. */
export interface SplitConfig {
  readonly config: JsonObject;
  readonly secrets: Secrets;
}

/** Headers that the gateway sets itself. */
const OWN_HEADERS: ReadonlySet<string> = new Set([
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'expect',
  'host',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'x-test-connection',
]);

const validatorOf = remembered(100, (type) =>
  compileValidator(configSchema(DESTINATION_TYPES[type]?.members ?? {})),
);

/**
 * What is wrong with a complete configuration, by paths that begin with `config`. No message quotes a value.
 * `addressProblem`: why an address must not be written to, in words that follow its path.
 */
export function configIssues(
  type: string,
  config: unknown,
  addressProblem: (url: URL) => string | undefined,
): Issue[] {
  const members = DESTINATION_TYPES[type]?.members;
  if (members === undefined) return [];
  const issues = [...validatorOf(type).issuesOf(config), ...headerIssues(config)];
  if (issues.length > 0 || !isJsonObject(config)) return issues.map(inConfig);
  const url = urlOf(targetOf(type, config as JsonObject).url);
  const problem = url === undefined ? 'must be an http or https address' : addressProblem(url);
  if (problem === undefined) return [];
  const path = Object.keys(members).find((name) => members[name]?.isAddress) ?? '';
  return [inConfig({ path, message: problem })];
}

function headerIssues(config: unknown): Issue[] {
  const headers = isJsonObject(config) ? config.headers : undefined;
  if (!isJsonObject(headers)) return [];
  const seen = new Set<string>();
  return Object.keys(headers).flatMap((name) => {
    const lower = name.toLowerCase();
    const path = memberPath('headers', name);
    if (OWN_HEADERS.has(lower)) return [{ path, message: 'is set by the gateway itself' }];
    if (seen.has(lower)) return [{ path, message: 'is given twice: names of headers have no case' }];
    seen.add(lower);
    return [];
  });
}

function inConfig({ path, message }: Issue): Issue {
  return { path: path === '' || path.startsWith('[') ? `config${path}` : `config.${path}`, message };
}

/** Takes the secrets out of a checked configuration, and members that are null. */
export function splitConfig(type: string, whole: JsonObject): SplitConfig {
  const members = DESTINATION_TYPES[type]?.members ?? {};
  const config: JsonObject = {};
  const secrets: Record<string, string> = {};
  for (const [name, value] of Object.entries(whole)) {
    if (value === null || value === undefined) continue;
    if (members[name]?.isSecret !== true) config[name] = value;
    else if (typeof value === 'string') secrets[name] = value;
    else if (isJsonObject(value)) {
      for (const [key, each] of Object.entries(value)) secrets[`${name}.${key}`] = String(each);
    }
  }
  return { config, secrets };
}

/** A configuration with its secrets, or with what is shown of them, in their places. */
export function joinConfig(config: JsonObject, secrets: Secrets): JsonObject {
  const whole: JsonObject = { ...config };
  for (const [path, value] of Object.entries(secrets)) {
    const dot = path.indexOf('.');
    if (dot < 0) whole[path] = value;
    else {
      const name = path.slice(0, dot);
      const inner = whole[name];
      whole[name] = { ...(isJsonObject(inner) ? inner : {}), [path.slice(dot + 1)]: value };
    }
  }
  return whole;
}

/** How secrets are shown. */
export function labelsOf(secrets: Secrets): Record<string, string> {
  return Object.fromEntries(Object.entries(secrets).map(([path, value]) => [path, maskedLabel(value)]));
}

export function shownConfig({
  config,
  secretLabels,
}: Pick<Destination, 'config' | 'secretLabels'>): JsonObject {
  return joinConfig(config, secretLabels);
}

export interface ChangedConfig {
  /** Complete, with secrets, unchecked. */
  readonly whole: JsonObject;
  /** Paths of secrets that were given before. */
  readonly kept: readonly string[];
}

/**
 * Lays the members that are given over a configuration: null removes one, and headers are replaced as a whole. A
 * secret that is given as it is shown stays what it is.
 */
export function changedConfig(
  current: SplitConfig & Pick<Destination, 'secretLabels'>,
  given: JsonObject,
): ChangedConfig {
  const { config, secrets, secretLabels } = current;
  const whole = { ...joinConfig(config, secrets) };
  const kept = new Set(Object.keys(secrets));
  const takeOver = (path: string, value: unknown): unknown => {
    if (secrets[path] !== undefined && value === secretLabels[path]) return secrets[path];
    kept.delete(path);
    return value;
  };
  for (const [name, value] of Object.entries(given)) {
    if (isJsonObject(value)) {
      const paths = [...kept].filter((path) => path.startsWith(`${name}.`));
      const inner = Object.entries(value).map(([key, each]) => [key, takeOver(`${name}.${key}`, each)]);
      whole[name] = Object.fromEntries(inner) as JsonObject;
      for (const path of paths) if (!Object.hasOwn(value, path.slice(name.length + 1))) kept.delete(path);
    } else if (value === null) {
      delete whole[name];
      for (const path of [...kept]) if (path === name || path.startsWith(`${name}.`)) kept.delete(path);
    } else whole[name] = takeOver(name, value) as JsonObject[string];
  }
  return { whole, kept: [...kept] };
}

export function leadToSameServer(type: string, one: JsonObject, other: JsonObject): boolean {
  return originOf(type, one) === originOf(type, other);
}

function originOf(type: string, config: JsonObject): string | undefined {
  return urlOf(targetOf(type, config).url)?.origin;
}
