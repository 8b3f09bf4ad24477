import { isIP } from 'node:net';
import { type Issue, MISSING_FIELD, memberPath } from '../../kit/json/validate.ts';
import { Pace } from '../../kit/loop/turns.ts';
import { parsePrice } from '../../kit/money.ts';
import { parseIpRange } from '../../kit/net/egress.ts';
import { traceUrlProblem } from '../../kit/net/trace-url.ts';
import { urlOf } from '../../kit/net/url-of.ts';
import { nearestWord } from '../../kit/text/nearest-word.ts';
import { momentMs } from '../../kit/time/moment.ts';
import type { Problem } from '../problem.ts';
import { PRICE_NAMES } from '../schema/price-names.ts';
import type { Config } from '../schema/schema.ts';
import { engineProblem } from '../schema/search-engines.ts';
import { didYouMean } from './explain.ts';
import type { KnownProviders, ProviderConfig } from './known-providers.ts';
import { shownName } from './shown-text.ts';

/** Headers that the gateway or the connection sets itself. */
const OWN_HEADERS: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'content-type',
  'expect',
  'host',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/**
 * Checks beyond the schema: those that compare two places of the file, or use the built-in tables. Yields undefined
 * now and then, where a slice may end.
 */
export function* crossChecks(config: Config, knownProviders: KnownProviders): Generator<Problem | undefined> {
  yield* vendorChecks(config);
  yield* providerChecks(config, knownProviders);
  yield* modelChecks(config, knownProviders);
  yield* routingChecks(config);
  yield* pluginChecks(config, knownProviders);
  yield* hostChecks('apps.hidden', config.apps.hidden, (host) => APP_HOST.test(host));
  yield* hostChecks('egress.allow', config.egress.allow, isEgressRule);
  yield* serverChecks(config);
  yield* mcpChecks(config);
  yield* observabilityChecks(config);
}

/** Tools are named `<label>__<tool>`: of two servers they must never have the same name. */
const AMBIGUOUS_LABEL =
  'must not contain "__" or end with "_", which separates a label from the name of a tool';

/** What stands before `__` in names of the gateway's own tools. */
export const OWN_PREFIXES: ReadonlySet<string> = new Set(['experimental']);

function* mcpChecks({ tools }: Config): Generator<Problem> {
  for (const [label, { url, headers, authorization }] of Object.entries(tools.mcp_servers)) {
    const path = memberPath('tools.mcp_servers', label);
    if (label.includes('__') || label.endsWith('_')) yield { path, message: AMBIGUOUS_LABEL };
    if (OWN_PREFIXES.has(label))
      yield { path, message: 'is how names of own tools begin: take another label' };
    if (urlOf(url) === undefined) yield { path: `${path}.url`, message: 'is not an address' };
    yield* headerChecks(headers, `${path}.headers`);
    const isTwice = Object.keys(headers).some((name) => name.toLowerCase() === 'authorization');
    if (isTwice && authorization) {
      yield { path: `${path}.authorization`, message: 'is given in headers too: keep one of them' };
    }
  }
}

function* observabilityChecks({ observability: { trace_url: template, otlp } }: Config): Generator<Problem> {
  const problem = template ? traceUrlProblem(template) : undefined;
  if (problem !== undefined) yield { path: 'observability.trace_url', message: problem };
  if (!otlp) return;
  yield* addressChecks(otlp.endpoint, undefined, 'observability.otlp.endpoint');
  yield* headerChecks(otlp.headers, 'observability.otlp.headers');
}

function* serverChecks({ server }: Config): Generator<Issue> {
  for (const [index, proxy] of server.trusted_proxies.entries()) {
    if (parseIpRange(proxy) !== undefined) continue;
    const message = 'is not an address or a range of addresses, for example 10.0.0.0/8';
    yield { path: `server.trusted_proxies[${index}]`, message };
  }
  for (const [index, origin] of server.cors.origins.entries()) {
    if (origin === '*' || urlOf(origin) !== undefined) continue;
    yield { path: `server.cors.origins[${index}]`, message: 'is not an address that a browser can open' };
  }
}

/** Vendor names whose metric `<vendor>_usage` already exists. */
const TAKEN_WORDS: ReadonlySet<string> = new Set(['total', 'byok', 'credits']);

function* vendorChecks({ vendor }: Config): Generator<Issue> {
  if (!TAKEN_WORDS.has(vendor)) return;
  yield { path: 'vendor', message: `there is a metric ${vendor}_usage already: take another word` };
}

function* providerChecks({ providers }: Config, knownProviders: KnownProviders): Generator<Problem> {
  const firstAt = new Map<string, string>();
  for (const [index, provider] of providers.entries()) {
    const path = `providers[${index}]`;
    yield* duplicate(firstAt, provider.slug, `${path}.slug`);
    for (const { path: member, message } of ownIssues(provider, knownProviders)) {
      yield { path: `${path}.${member}`, message };
    }
    yield* addressChecks(provider.base_url, provider.dialect, `${path}.base_url`);
    yield* headerChecks(provider.headers, `${path}.headers`);
  }
}

/** Problems of a provider by itself. A misspelt slug is one problem, not one for each key that is missing with it. */
function ownIssues(provider: ProviderConfig, knownProviders: KnownProviders): readonly Issue[] {
  const issues = knownProviders.issuesOf(provider);
  const missing = issues.filter(({ message }) => message.startsWith(MISSING_FIELD)).map(({ path }) => path);
  if (missing.length < 2 || knownProviders.slugs.includes(provider.slug)) return issues;
  const meant = nearestWord(provider.slug, knownProviders.slugs);
  if (meant === undefined) return issues;
  const message = `is not in the built-in table${didYouMean(meant)} Another provider needs ${missing.join(' and ')}`;
  return [{ path: 'slug', message }];
}

function* duplicate(firstAt: Map<string, string>, name: string, path: string): Generator<Issue> {
  const first = firstAt.get(name);
  if (first === undefined) firstAt.set(name, path);
  else yield { path, message: `"${shownName(name)}" is already used at ${first}` };
}

/** Problems of the address of a provider. */
export function* addressChecks(
  address: string | null | undefined,
  dialect: string | null | undefined,
  path: string,
): Generator<Issue> {
  if (!address) return;
  const url = urlOf(address);
  const schemes = dialect === 'simulator' ? ['simulator:'] : ['http:', 'https:'];
  if (url === undefined || !schemes.includes(url.protocol)) {
    yield { path, message: `must be an address that begins with ${schemes.join('// or ')}//` };
  } else if (url.username !== '' || url.password !== '') {
    yield { path, message: 'must not hold a user or password: use api_key or headers' };
  } else if (/[?#]/.test(address)) {
    yield { path, message: 'must not hold "?" or "#": the path of the dialect is put behind it' };
  } else if (/[\s\p{Cc}]/u.test(address)) {
    yield { path, message: 'must not hold spaces, line breaks or other control characters' };
  }
}

function* headerChecks(headers: Readonly<Record<string, string>>, path: string): Generator<Problem> {
  for (const [name, value] of Object.entries(headers)) {
    const at = memberPath(path, name);
    if (OWN_HEADERS.has(name.toLowerCase())) {
      yield { path: at, message: 'is set by the gateway itself', isAtKey: true };
    } else if (!/^[\t\x20-\x7e]*$/.test(value)) {
      yield { path: at, message: 'holds a character that cannot be sent in a header' };
    }
  }
}

function* modelChecks(
  { models, providers }: Config,
  knownProviders: KnownProviders,
): Generator<Issue | undefined> {
  const pace = new Pace();
  const slugs = new Set(providers.map(({ slug }) => slug));
  const isProvider = (slug: string) => slugs.has(slug) || knownProviders.has(slug);
  const firstAt = new Map<string, string>();
  for (const [index, model] of models.entries()) {
    if (pace.tick()) yield undefined;
    yield* duplicate(firstAt, model.id, `models[${index}].id`);
  }
  for (const [index, model] of models.entries()) {
    if (pace.tick()) yield undefined;
    for (const [at, alias] of (model.aliases ?? []).entries()) {
      yield* duplicate(firstAt, alias, `models[${index}].aliases[${at}]`);
    }
    for (const name of ['created', 'knowledge_cutoff'] as const) {
      if (model[name] && momentMs(model[name]) === undefined) {
        yield { path: `models[${index}].${name}`, message: 'is not in the calendar' };
      }
    }
    yield* tagChecks(model, `models[${index}].endpoints`, isProvider);
    for (const [at, endpoint] of model.endpoints.entries()) {
      const path = `models[${index}].endpoints[${at}]`;
      if (!isProvider(endpoint.provider)) {
        yield {
          path: `${path}.provider`,
          message: unknownProvider(endpoint.provider, slugs, knownProviders),
        };
      }
      yield* discounts(endpoint, path);
      for (const name of PRICE_NAMES) {
        const price = endpoint.pricing?.[name];
        if (price && parsePrice(price) === undefined) {
          yield {
            path: `${path}.pricing.${name}`,
            message: 'must be an exact decimal, for example "0.000001"',
          };
        }
      }
      yield* dateChecks(`${path}.prices`, endpoint.prices ?? []);
    }
  }
}

/** A discount is in the lists of others, beside prices from which it may be taken off already. */
function* discounts({ pricing, prices }: Config['models'][number]['endpoints'][number], path: string) {
  const lists = [
    [`${path}.pricing`, pricing] as const,
    ...(prices ?? []).map((dated, index) => [`${path}.prices[${index}].pricing`, dated.pricing] as const),
  ];
  for (const [at, list] of lists) {
    const all = [
      [at, list] as const,
      ...(list?.overrides ?? []).map((each, index) => [`${at}.overrides[${index}]`, each] as const),
    ];
    for (const [place, each] of all) {
      if (Number(each?.discount ?? 0) > 0)
        yield { path: `${place}.discount`, message: 'is not charged: take it off the prices' };
    }
  }
}

function unknownProvider(slug: string, listed: Iterable<string>, { slugs }: KnownProviders): string {
  const meant = nearestWord(slug, [...listed, ...slugs]);
  return `"${slug}" is not in providers, and its name alone is not enough${didYouMean(meant)}`;
}

/** Tags must be unique: preferences identify an endpoint by its tag, health by tag and upstream model. */
function* tagChecks(
  { id, endpoints }: Config['models'][number],
  path: string,
  isProvider: (slug: string) => boolean,
): Generator<Issue> {
  const firstAt = new Map<string, string>();
  for (const [at, endpoint] of endpoints.entries()) {
    const tag = endpoint.tag ?? endpoint.provider;
    const [base = tag] = tag.split('/');
    if (base !== endpoint.provider && isProvider(base)) {
      yield {
        path: `${path}[${at}].tag`,
        message: `"${base}" is another provider: begin the tag with "${endpoint.provider}"`,
      };
    }
    const key = `${tag}\n${endpoint.model ?? id}`;
    const first = firstAt.get(key);
    firstAt.set(key, first ?? `${path}[${at}]`);
    if (first !== undefined) {
      yield {
        path: `${path}[${at}].tag`,
        message:
          `"${shownName(tag)}" and the same model are already used at ${first}: give it a tag of its own, ` +
          `such as "${shownName(base)}/2"`,
      };
    }
  }
}

function* dateChecks(path: string, prices: readonly { readonly from: string }[]): Generator<Issue> {
  let last = Number.NEGATIVE_INFINITY;
  for (const [index, { from }] of prices.entries()) {
    const begins = momentMs(from);
    if (begins === undefined) yield { path: `${path}[${index}].from`, message: 'is not in the calendar' };
    else if (begins <= last) {
      yield { path: `${path}[${index}].from`, message: 'must come after the one before it' };
    }
    last = begins ?? last;
  }
}

function* routingChecks({ routing }: Config): Generator<Issue> {
  if (routing.cooldown.max_ms < routing.cooldown.base_ms) {
    yield { path: 'routing.cooldown.max_ms', message: 'must not be below routing.cooldown.base_ms' };
  }
}

function* pluginChecks({ plugins, providers }: Config, knownProviders: KnownProviders): Generator<Issue> {
  const { web, moderation } = plugins;
  if (web?.default && !Object.hasOwn(web.engines, web.default) && !['auto', 'native'].includes(web.default)) {
    yield {
      path: 'plugins.web.default',
      message: `"${shownName(web.default)}" is not in plugins.web.engines`,
    };
  }
  for (const [name, engine] of Object.entries(web?.engines ?? {})) {
    const problem = engineProblem(name, engine);
    if (problem !== undefined) {
      const { member, message } = problem;
      yield {
        path: `${memberPath('plugins.web.engines', name)}${member === undefined ? '' : `.${member}`}`,
        message,
      };
    }
  }
  const services = [
    ['plugins.moderation.provider', moderation?.provider],
    ['plugins.file-parser.ocr.provider', plugins['file-parser']?.ocr?.provider],
  ] as const;
  const slugs = providers.map(({ slug }) => slug);
  for (const [path, slug] of services) {
    if (slug === undefined || knownProviders.has(slug) || slugs.includes(slug)) continue;
    yield { path, message: unknownProvider(slug, slugs, knownProviders) };
  }
}

function* hostChecks(
  path: string,
  hosts: readonly string[],
  isValid: (host: string) => boolean,
): Generator<Issue> {
  for (const [index, host] of hosts.entries()) {
    if (!isValid(host))
      yield { path: `${path}[${index}]`, message: 'is not a host, an address or a range of addresses' };
  }
}

const HOST = /^(?:\*\.)?[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/i;

/** Any host that an app may send, so that every app can be hidden. */
const APP_HOST = /^[^\s/?#@\\]+$/;

function isHost(text: string): boolean {
  const { host, port } = splitPort(text);
  return isPort(port) && (HOST.test(host) || isIP(host) !== 0);
}

/** A host, an address, or a range such as `10.0.0.0/8`; the first two with or without a port. */
function isEgressRule(text: string): boolean {
  const range = /^([^/]+)\/(\d{1,3})$/.exec(text);
  if (range === null) return isHost(text);
  const family = isIP(range[1] as string);
  return family !== 0 && Number(range[2]) <= (family === 4 ? 32 : 128);
}

function splitPort(text: string): { host: string; port: string | undefined } {
  const bracketed = /^\[([^\]]+)\](?::(\d+))?$/.exec(text);
  if (bracketed !== null) return { host: bracketed[1] as string, port: bracketed[2] };
  if (isIP(text) !== 0) return { host: text, port: undefined };
  const named = /^([^:]*):(\d+)$/.exec(text);
  return named === null ? { host: text, port: undefined } : { host: named[1] as string, port: named[2] };
}

function isPort(port: string | undefined): boolean {
  return port === undefined || (Number(port) >= 1 && Number(port) <= 65_535);
}
