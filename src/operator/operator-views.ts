import type { Catalog, Endpoint, Provider } from '../catalog/catalog.ts';
import { isAuthorized } from '../catalog/providers/missing-credential.ts';
import { rowOf } from '../catalog/providers/provider-rows.ts';
import { PROVIDER_TABLE } from '../catalog/providers/provider-table.ts';
import type { LoadedConfiguration } from '../config/load.ts';
import type { Problem } from '../config/problem.ts';
import type { Flags } from '../config/runtime.ts';
import { type ConfiguredValue, configuredValues } from '../config/value-sources.ts';
import type { ConfigurationState } from '../config/watch.ts';
import type {
  ConfigurationObject,
  ConfigurationProblem,
  FindingsObject,
} from '../contract/gateway/configuration.ts';
import { type GatewayProviderObject, gatewayProviderObject } from '../contract/gateway/gateway-provider.ts';
import type { PriceChangeObject } from '../contract/gateway/price-change.ts';
import type {
  EndpointStateObject,
  ProviderStateObject,
  ServiceChangeObject,
  ServiceHistoryObject,
} from '../contract/gateway/provider-state.ts';
import type { UptimeObject } from '../contract/gateway/uptime.ts';
import { isoTime } from '../contract/values/iso-time.ts';
import type { OperatorViews } from '../endpoints/services.ts';
import type { LastFailures } from '../gateway/observers/last-failures.ts';
import type { NotedChange, ServiceChanges } from '../gateway/observers/service-changes.ts';
import { systemClock } from '../kit/time/clock.ts';
import type { GatewayProviders } from '../manage/gateway-providers/gateway-providers.ts';
import type { PriceChange, PriceHistory } from '../manage/models/price-history.ts';
import { type DailyCalls, sumOfDays, uptimeOver } from '../manage/models/uptime.ts';
import type { UptimeHistory } from '../manage/models/uptime-history.ts';
import type { EndpointHealth } from '../routing/health/endpoint-health.ts';
import type { CoolingSite, Health } from '../routing/health/health.ts';
import { HISTORY_SLOT_MS } from '../routing/health/measurements.ts';
import type { FailureCause } from '../routing/health/service-watch.ts';
import type { RunningSettings } from '../settings/running-settings.ts';
import { addressesOf } from '../upstream/auth/destination.ts';
import { failureOf } from './provider-states.ts';

export interface OperatorViewSources {
  readonly settings: RunningSettings;
  readonly engine: {
    readonly health: Health;
    readonly failures: LastFailures;
    readonly serviceChanges: ServiceChanges;
  };
  /** The configuration in force, and how reading the file again ended. */
  readonly configuration: () => { readonly running: LoadedConfiguration; readonly state: ConfigurationState };
  /** As the program was started. */
  readonly flags: Flags;
  readonly prices: PriceHistory;
  /** Providers that the operator has added. */
  readonly storedProviders: Pick<GatewayProviders, 'list' | 'setBy'>;
  readonly uptime: Pick<UptimeHistory, 'days'>;
  /** Runs the checks of `doctor` on this process. */
  readonly examine: () => Promise<Pick<FindingsObject, 'verdict' | 'findings'>>;
}

/** Most values of a configuration in one answer. */
const MAX_VALUES = 20_000;

/** How long findings are kept, milliseconds: checks call providers. */
const FINDINGS_MS = 30_000;

/** Changes of service shown of each provider. */
const MAX_CHANGES = 20;

/** What the operator sees of a running gateway. */
export function operatorViews(sources: OperatorViewSources): OperatorViews {
  const { settings, prices } = sources;
  const catalog = () => settings.current.gateway.catalog;
  const values = onceFor((loaded: LoadedConfiguration) => configuredValues(loaded, sources.flags));
  let findings: { readonly atMs: number; readonly found: Promise<FindingsObject> } | undefined;
  return {
    providers: async () => {
      const [seen, added] = await Promise.all([seenNow(sources), addedProviders(sources)]);
      return providerObjects(catalog(), seen, added, sources);
    },
    endpoints: async ({ model, provider }) => {
      const seen = await seenNow(sources);
      const found = catalog().models.filter(({ id }) => model === undefined || id === model);
      return found
        .flatMap(({ endpoints }) => endpoints)
        .filter((endpoint) => provider === undefined || endpoint.provider.slug === provider)
        .map((endpoint) => endpointObject(endpoint, seen, sources));
    },
    configuration: async (section) => {
      const { running, state } = sources.configuration();
      return configurationObject(running, state, await values(running), section);
    },
    findings: () => {
      const nowMs = systemClock.now();
      if (findings === undefined || nowMs - findings.atMs >= FINDINGS_MS) {
        const found = sources.examine().then((report) => ({ at: isoTime(nowMs), ...report }));
        // A failure is not kept.
        found.catch(() => {
          findings = undefined;
        });
        findings = { atMs: nowMs, found };
      }
      return findings.found;
    },
    presets: () =>
      Object.entries(settings.current.config.presets).map(([slug, fields]) => ({
        slug,
        fields: { ...fields },
      })),
    prices: async (model) =>
      (await prices.changes(model)).filter(({ isFirst }) => model !== undefined || !isFirst).map(priceObject),
  };
}

/** Remembers the result for the last argument. */
function onceFor<A extends object, R>(compute: (argument: A) => Promise<R>): (argument: A) => Promise<R> {
  let last: { readonly argument: A; readonly result: Promise<R> } | undefined;
  return (argument) => {
    if (last?.argument !== argument) last = { argument, result: compute(argument) };
    return last.result;
  };
}

// --- Providers and endpoints -----------------------------------------------------------------------------------------

/** What is known of all endpoints at a moment, by their sites. */
interface SeenEndpoints {
  readonly cooling: ReadonlyMap<string, CoolingSite>;
  /** Undefined = the database does not answer. */
  readonly days: ReadonlyMap<string, DailyCalls> | undefined;
}

async function seenNow({ engine, uptime }: OperatorViewSources): Promise<SeenEndpoints> {
  const days = await uptime.days();
  return { days, cooling: new Map(engine.health.coolingSites().map((site) => [site.site, site])) };
}

/** The providers that the operator has added, by slug. */
type AddedProviders = ReadonlyMap<string, GatewayProviderObject>;

async function addedProviders({ storedProviders }: OperatorViewSources): Promise<AddedProviders> {
  const stored = await storedProviders.list();
  return new Map(
    stored.map((each) => [each.slug, gatewayProviderObject(each, storedProviders.setBy(each.slug))]),
  );
}

function providerObjects(
  catalog: Catalog,
  seen: SeenEndpoints,
  added: AddedProviders,
  sources: OperatorViewSources,
): ProviderStateObject[] {
  const endpoints = new Map<string, Endpoint[]>();
  for (const endpoint of catalog.models.flatMap((model) => model.endpoints)) {
    const { slug } = endpoint.provider;
    const known = endpoints.get(slug);
    if (known === undefined) endpoints.set(slug, [endpoint]);
    else known.push(endpoint);
  }
  const changes = sources.engine.serviceChanges.all();
  const inUse = new Set(catalog.providers.map(({ slug }) => slug));
  const known = Object.keys(PROVIDER_TABLE).filter(
    (slug) => !inUse.has(slug) && !added.has(slug) && firstVariables(slug).length > 0,
  );
  const idle = [...added.keys()].filter((slug) => !inUse.has(slug));
  return [
    ...catalog.providers.map((provider) => {
      const own = endpoints.get(provider.slug) ?? [];
      const states = own.map((endpoint) => endpointObject(endpoint, seen, sources));
      const days = seen.days && sumOfDays(own.flatMap(({ site }) => seen.days?.get(site) ?? []));
      const uptime = seen.days === undefined ? null : uptimeObject(days);
      return { ...providerObject(provider, states, changes, added, sources), uptime };
    }),
    ...[...idle, ...known].map((slug) => idleProviderObject(slug, added.get(slug), sources)),
  ];
}

function providerObject(
  provider: Provider,
  states: readonly EndpointStateObject[],
  changes: readonly NotedChange[],
  added: AddedProviders,
  sources: OperatorViewSources,
): Omit<ProviderStateObject, 'uptime'> {
  const { slug, name, dataPolicy } = provider;
  const places = new Set(states.map(({ model, endpoint }) => `${model}\n${endpoint}`));
  const out = states.filter(({ state, cooldown }) => state === 'paused' || cooldown?.accounts === 0);
  return {
    slug,
    name,
    is_on: isAuthorized(provider),
    dialect: provider.dialect,
    hosts: [...new Set(addressesOf(provider).map((address) => new URL(address).host))],
    credential: credentialObject(provider, sources),
    set_by: sources.storedProviders.setBy(slug) ?? (added.has(slug) ? 'stored' : null),
    stored: added.get(slug) ?? null,
    data_policy:
      dataPolicy === undefined
        ? null
        : { trains: dataPolicy.training, retains_prompts: dataPolicy.retainsPrompts },
    models: new Set(states.map(({ model }) => model)).size,
    endpoints: states.length,
    endpoints_out: out.length,
    endpoints_limited: states.filter(({ cooldown }) => (cooldown?.accounts ?? 0) > 0).length,
    endpoints_unstable: states.filter(({ state }) => state === 'unstable').length,
    history: sumOf(states.flatMap(({ history }) => history ?? [])),
    latency_p50: middleOf(states.flatMap(({ latency_last_30m: latency }) => latency?.p50 ?? [])),
    last_failure: failureOf(provider, sources.engine.failures),
    changes: changes
      .filter(({ place }) => places.has(`${place.model}\n${place.endpoint}`))
      .slice(0, MAX_CHANGES)
      .map(changeObject),
  };
}

/** A provider that nothing has served: of the built-in table, or added and switched off. */
function idleProviderObject(
  slug: string,
  stored: GatewayProviderObject | undefined,
  sources: OperatorViewSources,
): ProviderStateObject {
  const { name = slug, dialect = null, base_url: usual, data_policy: policy } = rowOf(slug) ?? {};
  const { environment } = sources.configuration().running;
  const address = stored?.base_url ?? usual;
  return {
    slug,
    name: stored?.name ?? name,
    is_on: false,
    dialect: stored?.dialect ?? dialect,
    hosts: address === undefined ? [] : [new URL(address).host],
    set_by: null,
    stored: stored ?? null,
    credential: {
      source: 'missing',
      variables: firstVariables(slug).map((variable) => ({
        name: variable,
        is_set: Boolean(environment[variable]),
      })),
    },
    data_policy:
      policy === undefined ? null : { trains: policy.training, retains_prompts: policy.retainsPrompts },
    models: 0,
    endpoints: 0,
    endpoints_out: 0,
    endpoints_limited: 0,
    endpoints_unstable: 0,
    history: null,
    uptime: uptimeObject(undefined),
    latency_p50: null,
    last_failure: null,
    changes: [],
  };
}

/** The variables of the first way to give a provider its key. */
function firstVariables(slug: string): readonly string[] {
  const [first] = rowOf(slug)?.keys ?? [];
  if (first === undefined) return [];
  return typeof first === 'string' ? [first] : Object.values(first);
}

function credentialObject(
  provider: Provider,
  { configuration, storedProviders }: OperatorViewSources,
): ProviderStateObject['credential'] {
  const { providerKeys, environment } = configuration().running;
  const ofEnvironment = providerKeys.find(({ slug }) => slug === provider.slug)?.variables;
  const names = ofEnvironment ?? firstVariables(provider.slug);
  const variables = names.map((name) => ({ name, is_set: Boolean(environment[name]) }));
  if (ofEnvironment !== undefined) return { source: 'environment', variables };
  if (provider.credential !== undefined) {
    return { source: storedProviders.setBy(provider.slug) === 'file' ? 'file' : 'stored', variables };
  }
  return { source: isAuthorized(provider) ? 'none_needed' : 'missing', variables };
}

function endpointObject(
  endpoint: Endpoint,
  { cooling, days }: SeenEndpoints,
  { engine: { health } }: OperatorViewSources,
): EndpointStateObject {
  const { site } = endpoint;
  const now = health.of(site);
  const cool = cooling.get(site);
  const history = health.history(site);
  const statistics = health.statistics(site);
  return {
    model: endpoint.modelId,
    endpoint: endpoint.tag,
    provider: endpoint.provider.slug,
    state: stateOf(now),
    paused_until: now.pausedUntilMs === 0 ? null : isoTime(now.pausedUntilMs),
    cooldown:
      cool === undefined
        ? null
        : {
            until: isoTime(systemClock.now() + Math.ceil(cool.leftMs)),
            accounts: cool.accounts,
            cause: causeObject(cool.cause),
          },
    uptime_last_30m: statistics.uptime30m,
    uptime_last_1d: statistics.uptime1d,
    uptime: days === undefined ? null : uptimeObject(days.get(site)),
    latency_last_30m: statistics.latency30m,
    throughput_last_30m: statistics.throughput30m,
    history:
      history === undefined
        ? null
        : {
            slot_seconds: HISTORY_SLOT_MS / 1000,
            calls: [...history.calls],
            failures: [...history.failures],
          },
  };
}

/** Undefined = there were no calls. */
function uptimeObject(days: DailyCalls | undefined): UptimeObject {
  return {
    last_1d: uptimeOver(1, days),
    last_7d: uptimeOver(7, days),
    last_30d: uptimeOver(30, days),
    days: days === undefined ? null : { calls: [...days.calls], failures: [...days.failures] },
  };
}

function stateOf({ state, pausedUntilMs, isUnstable }: EndpointHealth): EndpointStateObject['state'] {
  if (state !== 'ok') return state;
  if (pausedUntilMs !== 0) return 'paused';
  return isUnstable ? 'unstable' : 'ok';
}

function causeObject(cause: FailureCause | undefined) {
  return cause === undefined ? null : { ...cause };
}

function changeObject(change: NotedChange): ServiceChangeObject {
  const { atMs, kind, place, account, cause } = change;
  const lengthMs = change.kind === 'back' ? change.outMs : change.lengthMs;
  return {
    at: isoTime(atMs),
    kind,
    model: place.model,
    endpoint: place.endpoint,
    is_of_one_account: account !== undefined,
    seconds: Math.round(lengthMs) / 1000,
    failures: change.kind === 'cooling' ? change.failures : null,
    cause: causeObject(cause),
  };
}

/** Histories have slots of the same length and number. */
function sumOf(histories: readonly ServiceHistoryObject[]): ServiceHistoryObject | null {
  const [first] = histories;
  if (first === undefined) return null;
  const sum = (member: 'calls' | 'failures') =>
    first[member].map((_, slot) =>
      histories.reduce((total, history) => total + (history[member][slot] ?? 0), 0),
    );
  return { slot_seconds: first.slot_seconds, calls: sum('calls'), failures: sum('failures') };
}

function middleOf(values: readonly number[]): number | null {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.floor(sorted.length / 2)] ?? null;
}

// --- Configuration and prices ----------------------------------------------------------------------------------------

function configurationObject(
  { file, warnings }: LoadedConfiguration,
  { inForceSinceMs, lastReload }: ConfigurationState,
  values: readonly ConfiguredValue[],
  section: string | undefined,
): ConfigurationObject {
  const shown =
    section === undefined ? values : values.filter(({ key }) => /^\w+/.exec(key)?.[0] === section);
  return {
    file: file ?? null,
    in_force_since: isoTime(Math.round(Date.now() - (performance.now() - inForceSinceMs))),
    last_reload:
      lastReload === undefined
        ? null
        : {
            at: isoTime(lastReload.atMs),
            is_accepted: lastReload.problems.length === 0,
            problems: lastReload.problems.map(problemObject),
            waiting_keys: [...lastReload.waitingKeys],
          },
    warnings: warnings.map(problemObject),
    total_count: shown.length,
    values: shown.slice(0, MAX_VALUES).map(({ key, value, source }) => ({
      key,
      value,
      source: { ...source, variables: [...source.variables] },
    })),
  };
}

function problemObject({ path, message, place, hint }: Problem): ConfigurationProblem {
  return { path, message, line: place?.line ?? null, hint: hint ?? null };
}

function priceObject(change: PriceChange): PriceChangeObject {
  return {
    model: change.model,
    endpoint: change.endpoint,
    member: change.member,
    min_prompt_tokens: change.minPromptTokens,
    at: isoTime(change.atMs),
    before: change.before,
    after: change.after,
    is_first: change.isFirst,
  };
}
