import type { Environment } from '../../config/parse/environment.ts';
import type {
  CompletedProviders,
  EnvironmentKey,
  KnownProviders,
  ProviderConfig,
  ProviderMembers,
} from '../../config/parse/known-providers.ts';
import type { Issue } from '../../kit/json/validate.ts';
import { SIMULATOR_PROVIDER } from '../simulator-catalog.ts';
import { parseCredential } from './credential.ts';
import { authOf, rowOf } from './provider-rows.ts';
import { type KeySource, PROVIDER_TABLE, type ProviderRow } from './provider-table.ts';

/** The built-in provider table, for parsing a configuration. */
export const KNOWN_PROVIDERS: KnownProviders = {
  has: (slug) => isComplete(rowOf(slug)),
  slugs: Object.keys(PROVIDER_TABLE),
  issuesOf: (provider) => [...missingKeys(provider), ...credentialIssues(provider), ...foreignKeys(provider)],
  complete,
};

function isComplete(row: ProviderRow | undefined): boolean {
  return row?.dialect !== undefined && row.base_url !== undefined;
}

// --- Checks of a listed provider -------------------------------------------------------------------------------------

function missingKeys(provider: ProviderMembers): Issue[] {
  const row = rowOf(provider.slug);
  const dialect = provider.dialect ?? row?.dialect;
  const reason = row === undefined ? 'the provider is not in the built-in table' : unknownAddress(row);
  const issues: Issue[] = [];
  if (!dialect) issues.push({ path: 'dialect', message: `is required: ${reason}` });
  const hasAddress =
    provider.base_url || row?.base_url || dialect === 'simulator' || isAddressedByCredential(row);
  if (!hasAddress) issues.push({ path: 'base_url', message: `is required: ${reason}` });
  return issues;
}

function unknownAddress({ name, address_example: example }: ProviderRow): string {
  return example === undefined
    ? `the built-in table knows ${name} by name only`
    : `the address depends on your account, for example ${example}`;
}

/** True if the credential contains the address: the row has a dialect, but no address and no example of one. */
function isAddressedByCredential(row: ProviderRow | undefined): boolean {
  return row?.dialect !== undefined && row.base_url === undefined && row.address_example === undefined;
}

function credentialIssues(provider: ProviderMembers): Issue[] {
  const auth = authOf(provider);
  if (auth === undefined) return [];
  const mustAddress = !provider.base_url && isAddressedByCredential(rowOf(provider.slug));
  if (!provider.api_key) {
    return mustAddress ? [{ path: 'api_key', message: 'is required: it says which address to call' }] : [];
  }
  const reading = parseCredential(auth, provider.api_key);
  if (!reading.ok) return [{ path: 'api_key', message: reading.problem }];
  return mustAddress && reading.credential.kind === 'key'
    ? [{ path: 'api_key', message: 'must be JSON that says which address to call, or give a base_url' }]
    : [];
}

/** Keys without effect in the dialect of the provider. */
function foreignKeys({ slug, dialect: given, takes }: ProviderMembers): Issue[] {
  const dialect = given ?? rowOf(slug)?.dialect;
  if (!takes || dialect === undefined || dialect === 'anthropic-messages') return [];
  return [{ path: 'takes', message: `has no effect for ${dialect}: it is of anthropic-messages` }];
}

// --- Credentials of the environment
// -------------------------------------------------------------------------------------------

function complete(providers: readonly ProviderConfig[], environment: Environment): CompletedProviders {
  const listed = providers.map((provider, index) =>
    completeListed(provider, `providers[${index}].api_key`, environment),
  );
  const slugs = new Set(providers.map(({ slug }) => slug));
  const switchedOn = Object.keys(PROVIDER_TABLE).flatMap((slug) =>
    slugs.has(slug) ? [] : switchOn(entryOf(slug), environment),
  );
  const all = [...listed, ...switchedOn];
  const found = all.flatMap(({ provider }) => provider ?? []);
  // A file that lists no providers also has the simulator.
  return {
    providers: providers.length === 0 ? [...found, entryOf(SIMULATOR_PROVIDER.slug)] : found,
    keys: all.flatMap(({ key }) => key ?? []),
    problems: all.flatMap(({ problem }) => problem ?? []),
    warnings: all.flatMap(({ warning }) => warning ?? []),
  };
}

/** A provider completed from the environment, or why it could not be. */
interface Completion {
  readonly provider?: ProviderConfig;
  readonly key?: EnvironmentKey;
  readonly problem?: Issue;
  readonly warning?: Issue | undefined;
}

function completeListed(provider: ProviderConfig, path: string, environment: Environment): Completion {
  const { slug, base_url: address, api_key: given } = provider;
  const row = rowOf(slug);
  if (row === undefined) return { provider };
  if (given) return { provider: { ...provider, api_key: withRegion(given, row, environment) } };
  const found = firstFound(row, environment);
  if (found === undefined) return { provider, warning: halfSetWarning(slug, row, environment) };
  const names = found.variables.join(', ');
  // A key of the environment is sent only to the provider's known address; for another the file must name the key.
  if (address && row.base_url !== undefined) {
    const message = `is not sent to the base_url of ${slug}; write api_key: \${${names}} there to send it`;
    return { provider, warning: { path: names, message } };
  }
  const completed = { ...provider, api_key: found.text };
  const [issue] = credentialIssues(completed);
  return issue === undefined
    ? { provider: completed, key: { slug, variables: found.variables, switchesOn: false } }
    : { provider, problem: { path, message: `comes from ${names}: ${issue.message}` } };
}

function switchOn(entry: ProviderConfig, environment: Environment): Completion[] {
  const { slug } = entry;
  const row = rowOf(slug);
  if (row === undefined) return [];
  const found = firstFound(row, environment);
  if (found === undefined) return [{ warning: halfSetWarning(slug, row, environment) }];
  // If the account decides the address, a key alone cannot switch the provider on.
  const [missing] = missingKeys(entry);
  if (missing !== undefined) {
    const message = `is not used: list ${slug} with a ${missing.path}; ${unknownAddress(row)}`;
    return [{ warning: { path: found.variables.join(', '), message } }];
  }
  const provider = { ...entry, api_key: found.text };
  const [issue] = credentialIssues(provider);
  if (issue === undefined) return [{ provider, key: { slug, variables: found.variables, switchesOn: true } }];
  const message = `${issue.message}; ${slug} is not switched on`;
  return [{ warning: { path: found.variables.join(', '), message } }];
}

interface Found {
  readonly text: string;
  readonly variables: readonly string[];
}

function firstFound({ keys = [] }: ProviderRow, environment: Environment): Found | undefined {
  for (const source of keys) {
    const variables = variablesOf(source);
    if (variables.some((name) => !environment[name])) continue;
    return { text: textOf(source, environment), variables };
  }
  return undefined;
}

function variablesOf(source: KeySource): string[] {
  return typeof source === 'string' ? [source] : Object.values(source);
}

function textOf(source: KeySource, environment: Environment): string {
  if (typeof source === 'string') return environment[source] ?? '';
  return JSON.stringify(
    Object.fromEntries(Object.entries(source).map(([member, variable]) => [member, environment[variable]])),
  );
}

/** Adds the region of the environment to a plain key. */
function withRegion(key: string, row: ProviderRow, environment: Environment): string {
  const region = row.region_variable === undefined ? undefined : environment[row.region_variable];
  const isPlain = !/^\s*[{[]/.test(key);
  return region && isPlain ? JSON.stringify({ apiKey: key, region }) : key;
}

function entryOf(slug: string): ProviderConfig {
  return {
    slug,
    headers: {},
    timeouts_ms: { connect: 10_000, first_byte: 120_000, idle: 120_000, total: 600_000 },
  };
}

/** Members of a credential that are no secret; their variables are often set for other purposes. */
const PLACES: ReadonlySet<string> = new Set(['region', 'resource_name']);

/** Warns of a credential whose variables are only partly set. Never holds a value. */
function halfSetWarning(
  slug: string,
  { keys = [] }: ProviderRow,
  environment: Environment,
): Issue | undefined {
  const [nearest] = keys
    .map((source) => (typeof source === 'string' ? {} : source))
    .map((members) => ({
      set: Object.entries(members).filter(([member, name]) => !PLACES.has(member) && environment[name]),
      missing: Object.values(members).filter((name) => !environment[name]),
    }))
    .filter(({ set }) => set.length > 0)
    .sort((one, other) => one.missing.length - other.missing.length);
  if (nearest === undefined) return undefined;
  const missing = nearest.missing.join(' and ');
  const verb = nearest.set.length === 1 ? 'is' : 'are';
  const pronoun = nearest.missing.length === 1 ? 'that' : 'those';
  return {
    path: nearest.set.map(([, name]) => name).join(', '),
    message: `${verb} not used without ${missing}: set ${pronoun} too, or give ${slug} an api_key in the configuration`,
  };
}
