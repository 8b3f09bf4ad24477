import { isJsonObject } from '../../kit/json/json.ts';
import { Pace } from '../../kit/loop/turns.ts';
import { parsePrice } from '../../kit/money.ts';
import type { Problem } from '../problem.ts';
import { PER_MILLION, TOKEN_PRICES } from '../schema/price-names.ts';
import type { Config } from '../schema/schema.ts';
import { hasVariable, pathOf } from './environment.ts';

/** Token prices above this are taken for prices of a million tokens. The dearest models cost 0.0006 USD a token. */
const DUBIOUS_USD_PER_TOKEN = '0.01';

/** Sections whose texts are the operator's own prose, in which `$NAME` may mean itself. */
const PROSE: ReadonlySet<string> = new Set(['prompts', 'presets']);

/**
 * Legal values that are almost surely wrong, as far as the file alone shows it. `value`: the file before its variables
 * are filled in, because a `$NAME` inside a variable's value is no mistake. Yields undefined now and then, where a
 * slice may end.
 */
export function* likelyMistakes(value: object, config: Config): Generator<Problem | undefined> {
  const pace = new Pace();
  for (const [name, section] of Object.entries(value)) {
    if (PROSE.has(name)) continue;
    if (!Array.isArray(section)) yield* unreadVariables(section, [name]);
    else {
      for (const [index, member] of section.entries()) {
        if (pace.tick()) yield undefined;
        yield* unreadVariables(member, [name, index]);
      }
    }
  }
  yield* plainSecrets(value);
  const { ocr } = config.plugins['file-parser'] ?? {};
  if (ocr && typeof ocr.price_per_page !== 'number') {
    const message =
      'is not there, so mistral-ocr serves no key, workspace or account with a limit or a balance: write what the ' +
      'service bills for a page, in USD, or 0 if it bills nothing';
    yield { path: 'plugins.file-parser.ocr.price_per_page', message };
  }
  yield* freeSearches(config);
  for (const [at, model] of config.models.entries()) {
    if (pace.tick()) yield undefined;
    for (const [index, { pricing, prices }] of model.endpoints.entries()) {
      const path = `models[${at}].endpoints[${index}]`;
      yield* dubiousPrices(pricing, `${path}.pricing`);
      for (const [number, dated] of (prices ?? []).entries()) {
        yield* dubiousPrices(dated.pricing, `${path}.prices[${number}].pricing`);
      }
    }
  }
}

type Pricing = Config['models'][number]['endpoints'][number]['pricing'];

function* dubiousPrices(pricing: Pricing, path: string): Generator<Problem> {
  const most = parsePrice(DUBIOUS_USD_PER_TOKEN) ?? 0n;
  for (const [prices, at] of [
    [pricing, path] as const,
    ...(pricing?.overrides ?? []).map(
      (override, index) => [override, `${path}.overrides[${index}]`] as const,
    ),
  ]) {
    for (const name of TOKEN_PRICES) {
      const price = prices?.[name];
      if (price && (parsePrice(price) ?? 0n) > most) {
        yield {
          path: `${at}.${name}`,
          message: `is ${price} USD for one token; if it is for a million, write ${name}${PER_MILLION}`,
        };
      }
    }
  }
}

/** Members that hold secrets; `*` stands for any name or index. */
const SECRETS: readonly string[] = [
  'providers.*.api_key',
  'providers.*.headers.*',
  'workspaces.*.keys.*.secret',
  'workspaces.*.byok.*.api_key',
  'workspaces.*.destinations.*.config.*',
  'workspaces.*.destinations.*.config.headers.*',
  'plugins.web.engines.*.api_key',
  'storage.s3.secret_access_key',
  'storage.s3.session_token',
  'tools.sandbox.token',
  'tools.mcp_servers.*.authorization',
  'tools.mcp_servers.*.headers.*',
  'metrics.token',
];

/** Sections with names of any kind. */
const NAMED: readonly string[] = ['headers', 'config'];

/** Names in them whose values are secret. */
const SECRET_NAME = /auth|key|token|secret|cookie|password|dsn/i;

/** Not a word such as `unused`, which servers without keys are given, nor a mask of `check-config`. */
const SECRET_TEXT = /^(?!\*{3})(?:(?=.*\d).{8,}|.{24,})$/s;

/** Secrets that stand in the file itself, where copies, tickets and version control show them. */
function* plainSecrets(value: object): Generator<Problem> {
  for (const pattern of SECRETS) {
    for (const { trail, text } of textsAt(value, pattern.split('.'), [])) {
      const isVariable = hasVariable(text) || unreadVariable(text) !== undefined;
      const isHarmless = NAMED.includes(String(trail.at(-2))) && !SECRET_NAME.test(String(trail.at(-1)));
      if (isVariable || isHarmless || !SECRET_TEXT.test(text)) continue;
      const message = `is a secret in plain text: put it into a variable of the environment, and write \${NAME} here`;
      yield { path: pathOf(trail), message };
    }
  }
}

/** Search engines for which the file does not say what a search costs. */
function* freeSearches({ plugins: { web } }: Config): Generator<Problem> {
  for (const [name, { price_per_search: price }] of Object.entries(web?.engines ?? {})) {
    if (typeof price === 'number') continue;
    const path = `plugins.web.engines.${name}.price_per_search`;
    const message =
      'is not there, so searches are free for MCP clients, and at endpoints without a web_search price: write what ' +
      'the engine bills for a search, in USD, or 0 if it bills nothing';
    yield { path, message };
  }
}

interface TextAt {
  readonly trail: readonly (string | number)[];
  readonly text: string;
}

function textsAt(value: unknown, names: readonly string[], trail: readonly (string | number)[]): TextAt[] {
  const [first, ...rest] = names;
  if (first === undefined) return typeof value === 'string' ? [{ trail, text: value }] : [];
  if (Array.isArray(value)) {
    return first === '*' ? value.flatMap((item, index) => textsAt(item, rest, [...trail, index])) : [];
  }
  if (!isJsonObject(value)) return [];
  const members = first === '*' ? Object.keys(value) : [first].filter((name) => Object.hasOwn(value, name));
  return members.flatMap((name) => textsAt(value[name], rest, [...trail, name]));
}

/** Texts with `$NAME`, which is not replaced. `trail`: the path of the value. */
function unreadVariables(value: unknown, trail: (string | number)[]): Problem[] {
  const problems: Problem[] = [];
  // The trail is rendered to a path only for a problem: a file has many places and few problems.
  const walk = (node: unknown): void => {
    if (typeof node === 'string') {
      const message = unreadVariable(node);
      if (message !== undefined) problems.push({ path: pathOf(trail), message });
    } else if (typeof node === 'object' && node !== null) {
      const isList = Array.isArray(node);
      for (const name of Object.keys(node)) {
        trail.push(isList ? Number(name) : name);
        walk((node as Record<string, unknown>)[name]);
        trail.pop();
      }
    }
  };
  walk(value);
  return problems;
}

/** What is wrong with the variable in a text that is not replaced; undefined if there is none. Quotes only its name. */
function unreadVariable(text: string): string | undefined {
  if (!text.includes('$')) return undefined;
  const closed = CLOSED_VARIABLE.exec(text);
  if (closed !== null) {
    const [, name, operator] = closed;
    if (name === undefined) return `\${} names no variable: write \${NAME}`;
    if (operator === undefined) return `\${ ${name} } is not replaced: write \${${name}}`;
    return `\${${name}${operator}...} is not replaced, because defaults are not taken: write \${${name}}, and set ${name} in the environment`;
  }
  const [, bracket = '', name] = UNREAD_VARIABLE.exec(text) ?? [];
  return name === undefined ? undefined : `$${bracket}${name} is not replaced: write \${${name}}`;
}

/** `${}`, `${ NAME }` and `${NAME:-other}`. What stands behind the operator may be a secret. */
const CLOSED_VARIABLE = /(?<!\$)\$\{ *(?:([A-Za-z_][A-Za-z0-9_]{0,63}) *(?:(:?[-=?+])[^{}]*)?)?\}/;

/** `$NAME`, `$(NAME)` and `${NAME`: how shells and other programs write variables. */
const UNREAD_VARIABLE = /(?<=^|[\s:/@])\$([({] *)?([A-Z_][A-Z0-9_]{2,})\b/;
