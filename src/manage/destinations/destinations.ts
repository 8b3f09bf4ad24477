import type { ConnectionOutcome, TestConnection } from '../../broadcast/connection-test.ts';
import {
  changedConfig,
  configIssues,
  joinConfig,
  labelsOf,
  leadToSameServer,
  splitConfig,
} from '../../broadcast/destination-config.ts';
import { filterIssues } from '../../broadcast/filter-rules.ts';
import type {
  CreateDestination,
  DestinationsQuery,
  UpdateDestination,
} from '../../contract/destinations/destination.ts';
import { GatewayError, invalidRequest } from '../../ir/errors.ts';
import { DecryptionProblem } from '../../kit/crypto/encrypt.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import type { Issue } from '../../kit/json/validate.ts';
import { type EgressRules, egressProblem } from '../../kit/net/egress.ts';
import {
  DESTINATION_LIMITS,
  type Destination,
  type DestinationEdit,
  type DestinationState,
  type DestinationStore,
  destinationFollowerId,
  type StatedDestination,
} from '../../ports/following/destinations.ts';
import type { FollowerNotes } from '../../ports/following/follower-notes.ts';
import type { Tenancy, Workspace } from '../../ports/tenancy/tenancy.ts';
import type { Vault } from '../byok/vault.ts';
import { notFound, refuseDeclared, requireFound } from '../refusals.ts';
import type { Sources } from '../sources.ts';
import { listedWorkspaceId, requireWorkspaceId } from '../workspaces/require-workspace-id.ts';
import { DESTINATION_DEFAULTS, destinationChangeOf, rulesOf } from './destination-change.ts';
import { openSecrets, sealedSecrets, storedTarget } from './destination-secrets.ts';

export interface DestinationsDependencies {
  readonly store: DestinationStore;
  readonly tenancy: Tenancy;
  readonly vault: Vault;
  readonly sources: Sources;
  /** What destinations of the API may reach besides the public internet. */
  readonly egress: () => EgressRules;
  readonly testConnection: TestConnection;
  /** Notes of all destinations, by the ids of their followers. */
  readonly notes: Pick<FollowerNotes, 'listAll'>;
  /** Called with the workspace of every destination that was created, changed or deleted. */
  readonly changed: (workspace: Pick<Workspace, 'id' | 'accountId'>) => void;
}

const DEFAULT_PAGE = 50;

/** Destinations of accounts. Each operation sees one account; a destination of another is a 404. */
export class Destinations {
  readonly #dependencies: DestinationsDependencies;

  constructor(dependencies: DestinationsDependencies) {
    this.#dependencies = dependencies;
  }

  async create(accountId: string, wanted: CreateDestination): Promise<StatedDestination> {
    const { store, tenancy, vault, sources } = this.#dependencies;
    const { type, name } = wanted;
    const issues = [
      ...this.issuesOf(wanted),
      ...(await this.#foreignKeyIssues(accountId, wanted.api_key_hashes)),
    ];
    if (issues.length > 0) throw invalidRequest(issues);
    const workspaceId = await requireWorkspaceId(tenancy, accountId, wanted.workspace_id);
    const { config, secrets } = splitConfig(type, wanted.config as JsonObject);
    const owner = { id: sources.uuid(), accountId, type };
    const stored = await store.insert(
      {
        ...DESTINATION_DEFAULTS,
        ...destinationChangeOf(wanted),
        ...owner,
        workspaceId,
        name,
        config,
        encryptedSecrets: sealedSecrets(vault, owner, secrets),
        secretLabels: labelsOf(secrets),
        version: 1,
        createdAtMs: sources.clock.now(),
        updatedAtMs: null,
        fileMember: null,
      },
      DESTINATION_LIMITS.ofType,
    );
    if (stored === 'full') throw tooMany(type);
    this.#changed(stored);
    return this.#stated(stored);
  }

  /** All problems of a new destination that can be found without the database. */
  issuesOf({ type, config, filter_rules: rules }: Partial<CreateDestination>): Issue[] {
    return [
      ...(type === undefined || config === undefined ? [] : this.#configIssues(type, config)),
      ...filterIssues(rulesOf(rules)),
    ];
  }

  async list(
    accountId: string,
    query: DestinationsQuery,
  ): Promise<{ readonly destinations: readonly StatedDestination[]; readonly total: number }> {
    const { store, tenancy } = this.#dependencies;
    const workspaceId = await listedWorkspaceId(tenancy, accountId, query);
    const { destinations, total } = await store.list(accountId, workspaceId, {
      offset: query.offset ?? 0,
      limit: query.limit ?? DEFAULT_PAGE,
    });
    const stateOf = await this.#states(destinations);
    return { total, destinations: destinations.map((each) => ({ ...each, state: stateOf(each) })) };
  }

  async get(accountId: string, id: string): Promise<StatedDestination> {
    return this.#stated(await this.#find(accountId, id));
  }

  async update(accountId: string, id: string, wanted: UpdateDestination): Promise<StatedDestination> {
    const { store, sources } = this.#dependencies;
    refuseDeclared('destination', (await this.#find(accountId, id)).fileMember);
    const { config, ...settings } = wanted;
    const issues = [
      ...filterIssues(rulesOf(settings.filter_rules)),
      ...(await this.#foreignKeyIssues(accountId, settings.api_key_hashes)),
    ];
    const decide = (current: Destination): DestinationEdit => {
      refuseDeclared('destination', current.fileMember);
      const change = config === undefined ? {} : this.#newConfig(current, config as JsonObject, issues);
      if (issues.length > 0) throw invalidRequest(issues);
      return { ...destinationChangeOf(settings), ...change };
    };
    const stored = requireFound(await store.update(accountId, id, decide, sources.clock.now()));
    if (config !== undefined) await store.purgeWipedSecrets();
    this.#changed(stored);
    return this.#stated(stored);
  }

  async delete(accountId: string, id: string): Promise<void> {
    const { store } = this.#dependencies;
    const destination = await this.#find(accountId, id);
    refuseDeclared('destination', destination.fileMember);
    if (!(await store.delete(accountId, id))) throw notFound();
    this.#changed(destination);
  }

  /** Whether a destination can be written to. Nothing is said of generations. */
  async test(accountId: string, id: string): Promise<ConnectionOutcome> {
    const { vault, testConnection } = this.#dependencies;
    const destination = await this.#find(accountId, id);
    return testConnection(
      unsealed(() => storedTarget(vault, destination)),
      destination.fileMember !== null,
    );
  }

  async #find(accountId: string, id: string): Promise<Destination> {
    return requireFound(await this.#dependencies.store.find(accountId, id));
  }

  async #stated(destination: Destination): Promise<StatedDestination> {
    return { ...destination, state: (await this.#states([destination]))(destination) };
  }

  async #states(
    destinations: readonly Destination[],
  ): Promise<(destination: Destination) => DestinationState | null> {
    if (!destinations.some(({ isEnabled }) => isEnabled)) return () => null;
    const { notes, tenancy } = this.#dependencies;
    const noted = await notes.listAll();
    const silent = new Set<string>();
    for (const [id, accountId] of new Map(destinations.map((each) => [each.workspaceId, each.accountId]))) {
      const workspace = await tenancy.findWorkspaceById(accountId, id);
      if (workspace?.isObservabilityBroadcastEnabled !== true) silent.add(id);
    }
    return (destination) => {
      if (!destination.isEnabled) return null;
      if (silent.has(destination.workspaceId)) return SILENT;
      const note = noted.get(destinationFollowerId(destination));
      if (note === undefined) return null;
      const { taken, dropped, waiting, problem, problemSinceMs } = note;
      return { taken, dropped, waiting, problem, problemSinceMs };
    };
  }

  /** The changed configuration; adds its problems to `issues`, of which none quotes a value. */
  #newConfig(current: Destination, given: JsonObject, issues: Issue[]): DestinationEdit {
    const { vault } = this.#dependencies;
    const { type } = current;
    const before = { config: current.config, secrets: unsealed(() => openSecrets(vault, current)) };
    const { whole, kept } = changedConfig({ ...before, secretLabels: current.secretLabels }, given);
    const own = this.#configIssues(type, whole);
    issues.push(...own);
    if (own.length > 0) return {};
    // Whoever may change the address must not learn by that what only the first server was told.
    if (!leadToSameServer(type, joinConfig(before.config, before.secrets), whole)) {
      for (const path of kept) issues.push({ path: `config.${path}`, message: MOVED });
    }
    const { config, secrets } = splitConfig(type, whole);
    return {
      config,
      encryptedSecrets: sealedSecrets(vault, current, secrets),
      secretLabels: labelsOf(secrets),
      version: current.version + 1,
    };
  }

  #configIssues(type: string, config: unknown): Issue[] {
    return configIssues(type, config, (url) => egressProblem(url, this.#dependencies.egress()));
  }

  /** Refuses hashes of unknown keys: a list of only such hashes would silently send nothing. */
  async #foreignKeyIssues(accountId: string, hashes: readonly string[] | null | undefined): Promise<Issue[]> {
    const issues: Issue[] = [];
    for (const [index, hash] of (hashes ?? []).entries()) {
      const key = await this.#dependencies.tenancy.findKey(hash);
      if (key?.accountId === accountId) continue;
      issues.push({
        path: `api_key_hashes[${index}]`,
        message: 'is not the hash of a key of this account',
      });
    }
    return issues;
  }

  #changed({ workspaceId: id, accountId }: Destination): void {
    this.#dependencies.changed({ id, accountId });
  }
}

/** State of destinations in a workspace that does not send. */
const SILENT: DestinationState = {
  taken: 0,
  dropped: 0,
  waiting: 0,
  problem: 'the workspace sends nothing: set its is_observability_broadcast_enabled',
  problemSinceMs: null,
};

const MOVED = 'must be given again, because the address leads to another server';

function tooMany(type: string): GatewayError {
  return new GatewayError(
    'conflict',
    `type: a workspace has at most ${DESTINATION_LIMITS.ofType} destinations of type ${type}; delete one first`,
  );
}

/** Throws 409 for secrets that cannot be decrypted. */
function unsealed<T>(open: () => T): T {
  try {
    return open();
  } catch (error) {
    if (!(error instanceof DecryptionProblem)) throw error;
    throw new GatewayError(
      'conflict',
      `The secrets of this destination cannot be decrypted: ${error.message}. Delete it and make it anew`,
    );
  }
}
