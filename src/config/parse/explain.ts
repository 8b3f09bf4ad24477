import { isJsonObject } from '../../kit/json/json.ts';
import { type Issue, MISSING_FIELD, memberPath, UNKNOWN_FIELD } from '../../kit/json/validate.ts';
import { nearestWord } from '../../kit/text/nearest-word.ts';
import type { Problem } from '../problem.ts';
import { PER_MILLION, PRICE_NAMES, type PriceName, TOKEN_PRICES } from '../schema/price-names.ts';
import { configSchema } from '../schema/schema.ts';
import { branchesOf, memberNames, type SchemaNode, type Segment, schemaAt, segmentsOf } from './schema-at.ts';

const SCHEMA = configSchema as SchemaNode;

/**
 * Adds to the issues of a schema what the operator may have meant: the field with a similar name, the fields that are
 * allowed there, the word with a similar spelling. A required field that is only misspelt is one problem, not two.
 * `value`: what the file sets, without defaults.
 */
export function explainIssues(issues: readonly Issue[], value: unknown): Problem[] {
  const explained = issues.map((issue) => explain(issue, value));
  const meant = new Set(explained.flatMap(({ meantPath }) => meantPath ?? []));
  return explained
    .filter(({ problem }) => problem.message !== MISSING_FIELD || !meant.has(problem.path))
    .map(({ problem, meantPath }) => (meantPath === undefined ? problem : { ...problem, meantPath }));
}

interface Explained {
  readonly problem: Problem;
  /** Path of the field that a misspelt key means. */
  readonly meantPath?: string;
}

function explain(issue: Issue, value: unknown): Explained {
  const segments = segmentsOf(issue.path);
  const node = schemaAt(SCHEMA, segments);
  if (issue.message === UNKNOWN_FIELD) return unknownField(issue, segments, value);
  if (issue.message === MISSING_FIELD) {
    return { problem: { ...issue, hint: fieldsHint(segments.slice(0, -1)) } };
  }
  const given = valueAt(value, segments);
  if (issue.message.startsWith('must be one of')) {
    const words = node === undefined ? [] : branchesOf(node).flatMap((branch) => branch.enum ?? []);
    const meant = typeof given === 'string' ? meantWord(given, words.map(String)) : undefined;
    return { problem: { ...issue, message: `${inWordsOfYaml(issue.message)}${didYouMean(meant)}` } };
  }
  if (issue.message.startsWith('key ')) {
    return { problem: { ...issue, message: `the ${issue.message}`, isAtKey: true } };
  }
  const name = String(segments.at(-1));
  const message = inWordsOfYaml(issue.message);
  const isText = message === 'must be a whole number' && typeof given === 'string' && /^\d+$/.test(given);
  const isUnspaced = message === KEYS_AND_VALUES && typeof given === 'string' && /^[\w-]+:\S/.test(given);
  const isTokenPrice = (TOKEN_PRICES as readonly string[]).includes(name);
  return {
    problem: {
      ...issue,
      message: `${message}${isText ? ': write it without quotes, and not as a variable' : ''}${isUnspaced ? NO_SPACE : ''}`,
      ...(isTokenPrice && { hint: `for a million tokens write ${name}${PER_MILLION}, such as 1.25` }),
    },
  };
}

/** The word with a similar spelling, or the first of which it is a part: `openai` means `openai-chat`. */
function meantWord(given: string, words: readonly string[]): string | undefined {
  return nearestWord(given, words) ?? words.find((word) => word.split('-').includes(given.toLowerCase()));
}

const KEYS_AND_VALUES = 'must hold keys and values';
const NO_SPACE = ': a space is missing behind the colon';

function unknownField(issue: Issue, segments: readonly Segment[], value: unknown): Explained {
  const parent = segments.slice(0, -1);
  const name = String(segments.at(-1) ?? '');
  const allowed = allowedAt(parent);
  const given = valueAt(value, parent);
  const taken = isJsonObject(given) ? given : {};
  // A field that is there already is not what another key was meant to be.
  const free = allowed.filter((field) => !Object.hasOwn(taken, field));
  const meant = nearestWord(name, free) ?? onlyOne(free.filter((field) => field.split('_').includes(name)));
  const elsewhere = meant === undefined ? pathsOfField(name) : [];
  const setWith = parent.length === 0 || parent[0] === 'server' ? SETTINGS_OUTSIDE.get(name) : undefined;
  return {
    problem: {
      ...issue,
      message:
        setWith === undefined
          ? `${issue.message}${didYouMean(meant ?? onlyOne(elsewhere))}`
          : `${issue.message}: it is set with ${setWith}, not in this file`,
      isAtKey: true,
      ...(allowed.length > 0 && setWith === undefined && { hint: fieldsHint(parent) }),
    },
    ...(meant !== undefined && {
      meantPath: memberPath(issue.path.slice(0, parentLength(issue.path)), meant),
    }),
  };
}

/** Settings that other gateways have in their files, and how they are set here. */
const SETTINGS_OUTSIDE: ReadonlyMap<string, string> = new Map([
  ['port', '--port or the variable PORT'],
  ['host', '--host or the variable HOST'],
  ['data_dir', '--data-dir or the variable SIGNALBOX_DATA_DIR'],
  ['log_level', 'the variable LOG_LEVEL'],
  ['database_url', 'the variable DATABASE_URL'],
  ['redis_url', 'the variable REDIS_URL'],
  ['clickhouse_url', 'the variable CLICKHOUSE_URL'],
]);

function onlyOne(words: readonly string[]): string | undefined {
  return words.length === 1 ? words[0] : undefined;
}

/** `; did you mean "x"?`, or nothing. */
export function didYouMean(meant: string | undefined): string {
  return meant === undefined ? '' : `; did you mean "${meant}"?`;
}

/** The fields that a section may have, prices per million included. */
function allowedAt(segments: readonly Segment[]): readonly string[] {
  const names = namesAt(segments);
  return hasPrices(names) ? [...names, ...PRICE_NAMES.map((name) => `${name}${PER_MILLION}`)] : names;
}

function fieldsHint(segments: readonly Segment[]): string {
  const names = namesAt(segments);
  const also = hasPrices(names) ? `; prices also as prompt${PER_MILLION} and so on` : '';
  return `fields here: ${names.join(', ')}${also}`;
}

function namesAt(segments: readonly Segment[]): readonly string[] {
  const node = schemaAt(SCHEMA, segments);
  return node === undefined ? [] : memberNames(node);
}

function hasPrices(names: readonly string[]): boolean {
  return names.includes('prompt' satisfies PriceName);
}

function parentLength(path: string): number {
  return path.endsWith('"]') ? path.lastIndexOf('["') : Math.max(0, path.lastIndexOf('.'));
}

/** Paths of the sections' fields with this name, lists left out. */
function pathsOfField(name: string): string[] {
  const found: string[] = [];
  const walk = (node: SchemaNode, path: string): void => {
    for (const { properties = {} } of branchesOf(node)) {
      for (const [member, inner] of Object.entries(properties)) {
        const at = memberPath(path, member);
        if (member === name) found.push(at);
        walk(inner, at);
      }
    }
  };
  walk(SCHEMA, '');
  return found;
}

function valueAt(value: unknown, segments: readonly Segment[]): unknown {
  return segments.reduce<unknown>((node, segment) => {
    if (typeof segment === 'number') return Array.isArray(node) ? node[segment] : undefined;
    return isJsonObject(node) && Object.hasOwn(node, segment) ? node[segment] : undefined;
  }, value);
}

/** A problem of a value in the words of the file instead of those of JSON. */
export function inWordsOfYaml(message: string): string {
  return message
    .replace(/^must be an array( or null)?$/, 'must be a list: begin each item with "- "')
    .replace(/^must be an object( or null)?$/, KEYS_AND_VALUES)
    .replace(/^must be a string( or null)?$/, 'must be a text: put it in quotes')
    .replace(/\ban array\b/, 'a list')
    .replace(/\ban object\b/, 'keys and values')
    .replace(/\ban integer\b/, 'a whole number')
    .replace(/\ba string\b/, 'a text')
    .replace(/\ba boolean\b/, 'true or false')
    .replace(/^must be >= /, 'must be at least ')
    .replace(/^must be <= /, 'must be at most ')
    .replace(/^must be > /, 'must be more than ')
    .replace(/ or null$/, '');
}
