import type { TestConnection } from '../broadcast/connection-test.ts';
import { similarModelId } from '../catalog/knowledge/model-hint.ts';
import { KNOWN_PROVIDERS } from '../catalog/providers/known-providers.ts';
import type { ProviderSetter } from '../contract/gateway/gateway-provider.ts';
import { randomIds } from '../kit/ids.ts';
import { nanosOf } from '../kit/money.ts';
import { egressProblem, parseEgressRules } from '../kit/net/egress.ts';
import { nearestWord } from '../kit/text/nearest-word.ts';
import { Accounts } from '../manage/accounts/accounts.ts';
import { Credits } from '../manage/accounts/credits.ts';
import { Byok } from '../manage/byok/byok.ts';
import { ByokDirectory } from '../manage/byok/byok-directory.ts';
import { credentialTarget } from '../manage/byok/byok-secret.ts';
import { replaceToken } from '../manage/byok/replace-token.ts';
import { Vault } from '../manage/byok/vault.ts';
import { Classifiers } from '../manage/classifiers/classifiers.ts';
import { Declarations } from '../manage/declared/declarations.ts';
import { Destinations } from '../manage/destinations/destinations.ts';
import { Files, type FilesDependencies } from '../manage/files/files.ts';
import { Freshness } from '../manage/freshness.ts';
import { GatewayProviders } from '../manage/gateway-providers/gateway-providers.ts';
import { GuardrailAssignments } from '../manage/guardrails/assignments.ts';
import type { GuardrailChecks, KnownNames } from '../manage/guardrails/guardrail-issues.ts';
import { Guardrails } from '../manage/guardrails/guardrails.ts';
import { canonicalSlugOf, findModel } from '../manage/guardrails/known-names.ts';
import { CallerDirectory } from '../manage/keys/caller-directory.ts';
import { Keys } from '../manage/keys/keys.ts';
import { Members } from '../manage/members/members.ts';
import type { ModelKnowledge } from '../manage/models/model-knowledge.ts';
import { PriceHistory } from '../manage/models/price-history.ts';
import { Sessions } from '../manage/sessions/sessions.ts';
import type { Sources } from '../manage/sources.ts';
import { UsageImports } from '../manage/usage-import/usage-imports.ts';
import { Budgets } from '../manage/workspaces/budgets.ts';
import { Workspaces } from '../manage/workspaces/workspaces.ts';
import { createEgress } from '../net/egress/egress.ts';
import type { FileQuotas } from '../ports/content/files.ts';
import { MCP_PROVIDER_PREFIX } from '../ports/tenancy/byok-credentials.ts';
import type { Workspace } from '../ports/tenancy/tenancy.ts';
import { checkingPatterns } from '../stages/guardrails/filters/check-pattern.ts';
import type { DataDirectory } from '../store/directory/data-directory.ts';
import type { ImportFolder } from '../store/directory/import-folder.ts';
import { readBundleApps } from '../store/events/duckdb/bundle/event-bundle.ts';
import type { State } from '../store/state.ts';
import { modelLister } from '../upstream/listing/list-models.ts';
import type { InstallationOptions } from './installation-options.ts';

/** What services are made from, besides the stores. */
interface ServiceParts {
  readonly options: InstallationOptions;
  readonly sources: Sources;
  readonly directory: DataDirectory;
  readonly storedFiles: Pick<FilesDependencies, 'store' | 'bytes'>;
  readonly modelKnowledge: ModelKnowledge;
  readonly imports: ImportFolder;
}

/** The services on the stores of an installation: what may be done, by whom, and what else changes with it. */
export type ManagedServices = Awaited<ReturnType<typeof openServices>>;

/** Makes the services. Rejects if credentials are encrypted under another key. */
export async function openServices(
  stores: State,
  { options, sources, directory, storedFiles, modelKnowledge, imports }: ServiceParts,
) {
  const {
    changes,
    tenancy,
    byokStore,
    guardrailStore,
    destinationStore,
    gatewayProviderStore,
    memberStore,
    classifierStore,
    classificationStore,
    followerNotes,
    sessionStore,
    priceStore,
    appRegistry,
    eventStore,
    ledger,
    whenDatabaseUp,
  } = stores;
  const vault = await whenDatabaseUp(() =>
    Vault.open([byokStore, destinationStore, gatewayProviderStore], directory.encryptionKeys),
  );
  const freshness = new Freshness(changes, sources.clock);
  const byokCredentials = new ByokDirectory(
    byokStore,
    vault,
    (token, secret) => replaceToken(token, secret, { store: byokStore, cipher: vault, clock: sources.clock }),
    sources.clock,
    freshness,
  );
  const callers = new CallerDirectory(tenancy, guardrailStore, sources.clock, freshness);
  const credits = new Credits(ledger, sources);
  const accounts = new Accounts(tenancy, sources, credits, () => {
    const usd = options.initialUsd?.() ?? null;
    return usd === null ? null : nanosOf(usd);
  });
  const gatewayProviders = new GatewayProviders({
    store: gatewayProviderStore,
    isWorkspace: async (id) => {
      for (const account of await accounts.list()) {
        if ((await tenancy.findWorkspaceById(account.id, id)) !== undefined) return true;
      }
      return false;
    },
    vault,
    sources,
    vendor: options.vendor,
    setters: options.providerSetters ?? (() => NO_SETTERS),
    running: options.runningProvider ?? (() => undefined),
    listModels: modelLister(createEgress({ rules: options.egress ?? (() => PUBLIC_ADDRESSES) })),
    changed: () => changes.publish({ kind: 'providers' }),
    warn: options.warn ?? (() => {}),
  });
  changes.subscribe((change) => callers.forget(change));
  changes.subscribe((change) => byokCredentials.forget(change));
  const changedKey = (hash: string) => changes.publish({ kind: 'key', hash });
  const changedCredentials = (accountId: string) => changes.publish({ kind: 'credentials', accountId });
  const changedGuardrails = (accountId: string) => changes.publish({ kind: 'guardrails', accountId });
  const changedWorkspace = ({ id, accountId }: Pick<Workspace, 'id' | 'accountId'>) => {
    changes.publish({ kind: 'workspace', id });
    // The credentials of a deleted workspace are deleted with it.
    changedCredentials(accountId);
  };
  const { fileQuotas = () => NO_QUOTAS } = options;
  const files = new Files({
    ...storedFiles,
    workspaces: tenancy,
    sources,
    ids: randomIds,
    quotas: fileQuotas,
  });
  const workspaces = new Workspaces({
    tenancy,
    ledger,
    sources,
    changed: changedWorkspace,
    purgeDeleted: async () => {
      await byokStore.purgeWipedSecrets();
      await files.sweep();
    },
  });
  const guardrails = new Guardrails({
    store: guardrailStore,
    tenancy,
    sources,
    checks: () => guardrailChecks(options),
    canonicalModel: (name) => canonicalSlugOf(name, options.models?.()),
    judgesFor: options.judgesFor ?? (() => []),
    changed: changedGuardrails,
  });
  return {
    accounts,
    keys: new Keys({
      tenancy,
      accounts,
      ledger,
      events: eventStore,
      guardrails: guardrailStore,
      members: memberStore,
      sources,
      models: () => modelsIn(options),
      prefix: options.keyPrefix,
      changed: changedKey,
    }),
    workspaces,
    budgets: new Budgets({ store: tenancy, workspaces, ledger, sources, changed: changedWorkspace }),
    byok: new Byok({
      store: byokStore,
      tenancy,
      vault,
      sources,
      providers: options.providers ?? (() => []),
      egress: options.egress ?? (() => PUBLIC_ADDRESSES),
      changed: changedCredentials,
    }),
    gatewayProviders,
    members: new Members({
      store: memberStore,
      workspaces,
      ids: randomIds,
      sources,
      changed: (id) => changes.publish({ kind: 'member', id }),
    }),
    guardrails,
    guardrailAssignments: new GuardrailAssignments({
      store: guardrailStore,
      guardrails,
      tenancy,
      sources,
      changed: changedGuardrails,
      warn: options.warn ?? (() => {}),
    }),
    destinations: new Destinations({
      store: destinationStore,
      tenancy,
      vault,
      sources,
      egress: options.egress ?? (() => PUBLIC_ADDRESSES),
      testConnection: options.testConnection ?? noWayOut,
      notes: followerNotes,
      changed: ({ id }) => changes.publish({ kind: 'workspace', id }),
    }),
    classifiers: new Classifiers({
      store: classifierStore,
      classifications: classificationStore,
      notes: followerNotes,
      tenancy,
      ledger,
      sources,
      checks: () => ({ vendor: options.vendor, isModel: modelsIn(options).has }),
      changed: ({ id }) => changes.publish({ kind: 'workspace', id }),
    }),
    declarations: new Declarations({
      accounts,
      tenancy,
      byokStore,
      guardrailStore,
      destinationStore,
      classifierStore,
      vault,
      sources,
      changedKey,
      changedWorkspace,
      changedGuardrails,
    }),
    credits,
    files,
    callers,
    sessions: new Sessions({ store: sessionStore, callers, sources }),
    priceHistory: new PriceHistory(priceStore, sources.clock, options.warn),
    vault,
    byokCredentials,
    modelKnowledge,
    usageImports: new UsageImports({
      accounts,
      tenancy,
      apps: appRegistry,
      events: eventStore,
      prepared: { fileOf: (name) => imports.fileOf(name), appsOf: readBundleApps },
    }),
  };
}

/** Facts that guardrails are checked against, by the current configuration. */
function guardrailChecks(options: InstallationOptions): GuardrailChecks {
  const { providers, presidioUrl, egress } = options;
  const configured = providers?.() ?? [];
  return {
    models: modelsIn(options),
    providers: {
      has: (slug) =>
        !slug.startsWith(MCP_PROVIDER_PREFIX) && credentialTarget(slug, configured) !== undefined,
      nearest: (slug) =>
        nearestWord(slug, [...configured.map((each) => each.slug), ...KNOWN_PROVIDERS.slugs]),
    },
    checkingPatterns,
    addressProblem: (url) => egressProblem(url, egress?.() ?? PUBLIC_ADDRESSES),
    hasEntityService: (presidioUrl?.() ?? null) !== null,
  };
}

/** The models of the current configuration; if none are known, every name is that of a model. */
function modelsIn({ models }: InstallationOptions): KnownNames {
  const catalog = models?.();
  return {
    has: (name) => catalog === undefined || findModel(name, catalog) !== undefined,
    nearest: (name) => similarModelId(name, catalog?.models ?? []),
  };
}

const noWayOut: TestConnection = async () => ({
  isPassed: false,
  status: null,
  problem: 'there is no way out',
});

const NO_SETTERS: ReadonlyMap<string, ProviderSetter> = new Map();

const NO_QUOTA = { bytes: null, files: null };

const NO_QUOTAS: FileQuotas = { key: NO_QUOTA, workspace: NO_QUOTA, account: NO_QUOTA };

const PUBLIC_ADDRESSES = parseEgressRules([]);
