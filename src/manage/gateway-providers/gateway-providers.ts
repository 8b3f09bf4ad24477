import { buildProvider } from '../../catalog/build-provider.ts';
import type { Provider } from '../../catalog/catalog.ts';
import type { AddedProvider } from '../../catalog/model-entries.ts';
import { parseCredential } from '../../catalog/providers/credential.ts';
import { labelledSecretOf } from '../../catalog/providers/credential-facts.ts';
import { type ListModels, type ModelListing, offeredId } from '../../catalog/providers/model-list.ts';
import { authOf } from '../../catalog/providers/provider-rows.ts';
import { virtualIdProblem } from '../../catalog/virtual-ids.ts';
import type {
  CreateGatewayProvider,
  ProviderSetter,
  ProviderTestObject,
  TestGatewayProvider,
  UpdateGatewayProvider,
} from '../../contract/gateway/gateway-provider.ts';
import { GatewayError, invalidRequest } from '../../ir/errors.ts';
import { DecryptionProblem } from '../../kit/crypto/encrypt.ts';
import type { Issue } from '../../kit/json/validate.ts';
import { maskedLabel } from '../../kit/text/masked-label.ts';
import type { Change } from '../../ports/shared/changes.ts';
import {
  type GatewayProviderStore,
  keyOwnerOf,
  type StoredModel,
  type StoredProvider,
  type StoredProviderChange,
} from '../../ports/tenancy/gateway-providers.ts';
import type { Vault } from '../byok/vault.ts';
import { notFound, requireFound } from '../refusals.ts';
import type { Sources } from '../sources.ts';
import { modelIssues, providerIssues } from './provider-issues.ts';
import { type ProviderPlace, providerEntryOf, storedEntryOf } from './stored-entry.ts';

export interface GatewayProvidersDependencies {
  readonly store: GatewayProviderStore;
  /** Whether a workspace of any account has this id. */
  readonly isWorkspace: (id: string) => Promise<boolean>;
  readonly vault: Pick<Vault, 'encrypt' | 'decrypt'>;
  readonly sources: Sources;
  /** The vendor in the ids of routers, which no model can have. Undefined = unknown. */
  readonly vendor: string | undefined;
  /** What the file and the environment set, by slug. */
  readonly setters: () => ReadonlyMap<string, ProviderSetter>;
  /** A provider of the running catalogue. */
  readonly running: (slug: string) => Provider | undefined;
  readonly listModels: ListModels;
  /** Called after every change. */
  readonly changed: () => void;
  readonly warn: (message: string, fields?: Readonly<Record<string, unknown>>) => void;
}

/** Takes the providers that are now served into use. */
type UseProviders = (entries: readonly AddedProvider[]) => Promise<void>;

const MAX_PROVIDERS = 200;

const KEY_NEEDED_AGAIN = 'is needed again: the stored one is not sent to another address';

/** Providers that the operator adds to the gateway, beside those of the file and the environment, which win. */
export class GatewayProviders {
  readonly #dependencies: GatewayProvidersDependencies;
  #entries: readonly AddedProvider[] = [];
  /** What was made of each provider that was last read; undefined = it could not be served then. */
  #known: ReadonlyMap<StoredProvider, AddedProvider | undefined> = new Map();
  #use: UseProviders = async () => {};
  /** Readings run one after another, so that the last is the newest. */
  #reading: Promise<void> = Promise.resolve();

  constructor(dependencies: GatewayProvidersDependencies) {
    this.#dependencies = dependencies;
  }

  /** The enabled ones, with keys in clear, as last read. */
  get entries(): readonly AddedProvider[] {
    return this.#entries;
  }

  /** Calls the listener with the enabled ones whenever they have changed. */
  watch(use: UseProviders): void {
    this.#use = use;
  }

  /** Reads them again, and has a change taken into use. */
  refresh(): Promise<void> {
    const reading = this.#reading.then(() => this.#read());
    this.#reading = reading.catch(() => {});
    return reading;
  }

  /** Reads them again after a change that concerns them. What cannot be read stays as it was until the next change. */
  note({ kind }: Change): void {
    if (kind === 'providers' || kind === 'anything') void this.refresh().catch(() => {});
  }

  /** By slug. */
  list(): Promise<StoredProvider[]> {
    return this.#dependencies.store.listAll();
  }

  async get(slug: string): Promise<StoredProvider> {
    return requireFound(await this.#dependencies.store.find(slug));
  }

  /** What the file and the environment set, by slug. */
  setters(): ReadonlyMap<string, ProviderSetter> {
    return this.#dependencies.setters();
  }

  /** What else sets a provider of this slug, and wins; null = nothing. */
  setBy(slug: string): ProviderSetter | null {
    return this.setters().get(slug) ?? null;
  }

  async create(wanted: CreateGatewayProvider): Promise<StoredProvider> {
    const { store, sources, vault } = this.#dependencies;
    const { slug, key = null } = wanted;
    const place = placeOf(wanted);
    const models = this.#storedModels(slug, wanted.models ?? []);
    await this.#requireSound(place, key, models, workspaceIdsOf(wanted));
    if ((await store.listAll()).length >= MAX_PROVIDERS) {
      throw new GatewayError(
        'invalid-request',
        `slug: a gateway holds at most ${MAX_PROVIDERS} providers besides those of the file; delete one first`,
      );
    }
    const id = sources.uuid();
    const provider: StoredProvider = {
      ...place,
      id,
      models,
      workspaceIds: workspaceIdsOf(wanted) ?? null,
      label: key === null ? null : labelOf(place, key),
      encryptedKey: key === null ? null : vault.encrypt(keyOwnerOf({ id, slug }), key),
      version: key === null ? 0 : 1,
      disabled: wanted.disabled ?? false,
      createdAtMs: sources.clock.now(),
      updatedAtMs: null,
    };
    if (!(await store.insert(provider))) {
      throw new GatewayError('conflict', `slug: ${slug} was added already; change or delete it`);
    }
    await this.#takenIntoUse();
    return provider;
  }

  async update(slug: string, wanted: UpdateGatewayProvider): Promise<StoredProvider> {
    const { store, sources, vault } = this.#dependencies;
    const current = await this.get(slug);
    const place = { ...current, ...placeChangeOf(wanted) };
    const models = wanted.models && this.#storedModels(slug, wanted.models);
    const { key } = wanted;
    const workspaceIds = workspaceIdsOf(wanted);
    const keepsKey = key === undefined && current.encryptedKey !== null;
    if (keepsKey && place.baseUrl !== current.baseUrl) {
      throw invalidRequest([{ path: 'key', message: KEY_NEEDED_AGAIN }]);
    }
    await this.#requireSound(
      place,
      keepsKey ? this.#keyOf(current) : (key ?? null),
      models ?? current.models,
      workspaceIds,
    );
    const stored = requireFound(
      await store.update(
        slug,
        (now): StoredProviderChange => {
          if (key !== undefined || wanted.base_url !== undefined) requireUnmoved(current, now);
          return {
            ...placeChangeOf(wanted),
            ...(models !== undefined && { models }),
            ...(workspaceIds !== undefined && { workspaceIds }),
            ...(wanted.disabled !== undefined && { disabled: wanted.disabled }),
            ...(key === null && { label: null, encryptedKey: null }),
            ...(typeof key === 'string' && {
              label: labelOf(place, key),
              encryptedKey: vault.encrypt(keyOwnerOf(now), key),
              version: now.version + 1,
            }),
          };
        },
        sources.clock.now(),
      ),
    );
    if (key !== undefined) await store.purgeWipedSecrets();
    await this.#takenIntoUse();
    return stored;
  }

  async delete(slug: string): Promise<void> {
    if (!(await this.#dependencies.store.delete(slug))) throw notFound();
    await this.#takenIntoUse();
  }

  /**
   * Asks a provider for its models: with the given key, or, if only the slug is given, as it is stored or runs. Nothing
   * is stored.
   */
  async test(wanted: TestGatewayProvider): Promise<ProviderTestObject> {
    const { slug } = wanted;
    const provider = await this.#testedProvider(wanted);
    const { listModels, vendor } = this.#dependencies;
    return testObject(slug, provider, await listModels(provider), vendor);
  }

  async #testedProvider(wanted: TestGatewayProvider): Promise<Provider> {
    const { store, running } = this.#dependencies;
    const { slug, key } = wanted;
    const stored = await store.find(slug);
    const isPlaceGiven = wanted.base_url != null || wanted.dialect != null;
    if (key === undefined && stored === undefined && !isPlaceGiven) {
      const found = running(slug);
      if (found !== undefined && found.dialect !== 'simulator' && found.isDormant !== true) return found;
    }
    const place = stored === undefined ? placeOf(wanted) : { ...stored, ...placeChangeOf(wanted) };
    const keepsKey = key === undefined && stored?.encryptedKey != null;
    if (keepsKey && place.baseUrl !== stored.baseUrl) {
      throw invalidRequest([{ path: 'key', message: KEY_NEEDED_AGAIN }]);
    }
    const secret = keepsKey ? this.#keyOf(stored) : (key ?? null);
    const issues = providerIssues(place, secret);
    if (issues.length > 0) throw invalidRequest(issues);
    return buildProvider(providerEntryOf(place, secret));
  }

  async #requireSound(
    place: ProviderPlace,
    key: string | null,
    models: readonly StoredModel[],
    workspaceIds: readonly string[] | null | undefined,
  ): Promise<void> {
    const issues = [
      ...providerIssues(place, key),
      ...modelIssues(models, this.#dependencies.vendor),
      ...(await this.#workspaceIssues(workspaceIds ?? [])),
    ];
    if (issues.length > 0) throw invalidRequest(issues);
  }

  async #workspaceIssues(ids: readonly string[]): Promise<Issue[]> {
    const issues: Issue[] = [];
    for (const [index, id] of ids.entries()) {
      if (await this.#dependencies.isWorkspace(id)) continue;
      issues.push({ path: `workspace_ids[${index}]`, message: 'is not the id of a workspace' });
    }
    return issues;
  }

  #storedModels(slug: string, models: NonNullable<CreateGatewayProvider['models']>): StoredModel[] {
    return models.map(({ id, model, name, context_length: contextLength, pricing }) => ({
      id: id ?? offeredId(slug, model, this.#dependencies.vendor),
      model,
      name: name ?? null,
      contextLength: contextLength ?? null,
      promptPrice: pricing?.prompt ?? '0',
      completionPrice: pricing?.completion ?? '0',
    }));
  }

  #keyOf(stored: StoredProvider): string | null {
    const { encryptedKey: encryptedSecret } = stored;
    if (encryptedSecret === null) return null;
    try {
      return this.#dependencies.vault.decrypt({ ...keyOwnerOf(stored), encryptedSecret });
    } catch (error) {
      if (!(error instanceof DecryptionProblem)) throw error;
      const message = `the stored key of ${stored.slug} cannot be decrypted: give it again`;
      throw new GatewayError('conflict', message, { cause: error });
    }
  }

  /** Resolves once this process, and its workers, serve what is stored. */
  async #takenIntoUse(): Promise<void> {
    this.#dependencies.changed();
    await this.refresh();
  }

  async #read(): Promise<void> {
    const stored = await this.#dependencies.store.listAll();
    const served = stored.filter(({ disabled }) => !disabled);
    const read = new Map(
      served.map((provider) => [provider, this.#known.get(provider) ?? this.#entryOf(provider)]),
    );
    const entries = [...read.values()].flatMap((entry) => entry ?? []);
    this.#known = read;
    if (isSameList(entries, this.#entries)) return;
    this.#entries = entries;
    await this.#use(entries);
  }

  /** One that cannot be served is left out, so that it does not stop the others. */
  #entryOf(stored: StoredProvider): AddedProvider | undefined {
    const { slug } = stored;
    try {
      const key = this.#keyOf(stored);
      const [issue] = providerIssues(stored, key);
      if (issue === undefined) return storedEntryOf(this.#withRealModels(stored), key);
      this.#warn(slug, `${issue.path} ${issue.message}`);
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      this.#warn(slug, error.message);
    }
    return undefined;
  }

  /** Without models that were stored before their ids became those of routers. */
  #withRealModels(stored: StoredProvider): StoredProvider {
    const models = stored.models.filter(({ id }) => {
      const problem = virtualIdProblem(id, this.#dependencies.vendor);
      if (problem !== undefined) this.#warn(stored.slug, `the id of a model ${problem}`);
      return problem === undefined;
    });
    return { ...stored, models };
  }

  #warn(provider: string, reason: string): void {
    this.#dependencies.warn('a provider that was added is not served as it is stored', { provider, reason });
  }
}

function isSameList<T>(one: readonly T[], other: readonly T[]): boolean {
  return one.length === other.length && one.every((member, at) => member === other[at]);
}

/** Two changes at once must not send a key to an address that it was not given for. */
function requireUnmoved(read: StoredProvider, now: StoredProvider): void {
  if (now.baseUrl === read.baseUrl && now.version === read.version) return;
  throw new GatewayError(
    'conflict',
    `the key or the address of ${now.slug} was changed meanwhile; try again`,
  );
}

function placeOf({
  slug,
  ...wanted
}: Pick<CreateGatewayProvider, 'slug' | 'name' | 'dialect' | 'base_url'>): ProviderPlace {
  return { slug, name: null, dialect: null, baseUrl: null, ...placeChangeOf(wanted) };
}

function placeChangeOf({
  name,
  dialect,
  base_url: baseUrl,
}: Pick<UpdateGatewayProvider, 'name' | 'dialect' | 'base_url'>): Partial<Omit<ProviderPlace, 'slug'>> {
  return {
    ...(name !== undefined && { name }),
    ...(dialect !== undefined && { dialect }),
    ...(baseUrl !== undefined && { baseUrl }),
  };
}

/** Each once, in lower case as they are stored. */
function workspaceIdsOf({
  workspace_ids: ids,
}: Pick<CreateGatewayProvider, 'workspace_ids'>): readonly string[] | null | undefined {
  return ids && [...new Set(ids.map((id) => id.toLowerCase()))];
}

/** The masked form of a key, which was checked. */
function labelOf(place: ProviderPlace, key: string): string {
  const reading = parseCredential(authOf(providerEntryOf(place, key)) ?? 'bearer', key);
  return maskedLabel(reading.ok ? (labelledSecretOf(reading.credential) ?? '') : '');
}

function testObject(
  slug: string,
  { credential }: Pick<Provider, 'credential'>,
  { status, list, problem, isOpenToAll, isUnasked = false, milliseconds }: ModelListing,
  vendor: string | undefined,
): ProviderTestObject {
  return {
    passed: list !== undefined,
    is_testable: !isUnasked,
    status,
    message: problem ?? null,
    is_key_proven: list === undefined || credential === undefined ? null : isOpenToAll !== true,
    milliseconds,
    listed_models: list?.count ?? null,
    is_list_cut: list?.isCut ?? false,
    models: (list?.models ?? []).map(({ model, name, contextLength }) => ({
      id: offeredId(slug, model, vendor),
      model,
      name: name ?? null,
      context_length: contextLength ?? null,
    })),
  };
}
