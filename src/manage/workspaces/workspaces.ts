import type {
  CreateWorkspace,
  UpdateWorkspace,
  WorkspacesQuery,
} from '../../contract/workspaces/workspace.ts';
import { GatewayError } from '../../ir/errors.ts';
import type { Ledger } from '../../ports/money/ledger.ts';
import type { Key, Tenancy, Workspace, WorkspaceSettings } from '../../ports/tenancy/tenancy.ts';
import { notFound, refuseDeclared, requireFound } from '../refusals.ts';
import type { Sources } from '../sources.ts';
import { forgetSpending } from './forget-spending.ts';
import { newWorkspace } from './new-workspace.ts';

export interface WorkspacesDependencies {
  readonly tenancy: Tenancy;
  readonly ledger: Pick<Ledger, 'forget'>;
  readonly sources: Sources;
  /** Called with every workspace that was changed or deleted. */
  readonly changed: (workspace: Pick<Workspace, 'id' | 'accountId'>) => void;
  /** Removes the secrets of deleted credentials and the content of deleted files from the disk. */
  readonly purgeDeleted: () => Promise<void>;
}

const DEFAULT_PAGE = 50;

/** The workspaces of accounts. Each operation sees one account; a workspace of another is a 404. */
export class Workspaces {
  readonly #dependencies: WorkspacesDependencies;

  constructor(dependencies: WorkspacesDependencies) {
    this.#dependencies = dependencies;
  }

  /** Creates a workspace in the key's account; the key's creator becomes its creator. */
  async create(
    { accountId, creatorUserId }: Pick<Key, 'accountId' | 'creatorUserId'>,
    wanted: CreateWorkspace,
  ): Promise<Workspace> {
    const { tenancy, sources } = this.#dependencies;
    const workspace = newWorkspace({
      ...changeOf(wanted),
      name: wanted.name,
      slug: wanted.slug,
      id: sources.uuid(),
      accountId,
      createdBy: creatorUserId,
      createdAtMs: sources.clock.now(),
    });
    if (!(await tenancy.createWorkspace(workspace))) throw slugTaken();
    return workspace;
  }

  /** Oldest first. */
  list(accountId: string, { offset, limit }: WorkspacesQuery) {
    return this.#dependencies.tenancy.listWorkspaces(accountId, {
      offset: offset ?? 0,
      limit: limit ?? DEFAULT_PAGE,
    });
  }

  /** Finds by id first, then by slug; without a name the default workspace. */
  async find(accountId: string, idOrSlug: string | undefined): Promise<Workspace | undefined> {
    const { tenancy } = this.#dependencies;
    if (idOrSlug === undefined) return tenancy.defaultWorkspaceOf(accountId);
    const name = idOrSlug.toLowerCase();
    return (await tenancy.findWorkspaceById(accountId, name)) ?? tenancy.findWorkspace(accountId, name);
  }

  /** `find`, but throws 404 if there is none. */
  async get(accountId: string, idOrSlug: string): Promise<Workspace> {
    return requireFound(await this.find(accountId, idOrSlug));
  }

  async update(accountId: string, idOrSlug: string, wanted: UpdateWorkspace): Promise<Workspace> {
    const { tenancy, sources, changed } = this.#dependencies;
    const { id, fileMember } = await this.get(accountId, idOrSlug);
    refuseDeclared('workspace', fileMember);
    const outcome = await tenancy.updateWorkspace(accountId, id, changeOf(wanted), sources.clock.now());
    if (outcome.kind !== 'changed') throw REFUSALS[outcome.kind]();
    changed(outcome.workspace);
    return outcome.workspace;
  }

  /** Deletes a workspace with its budgets, credentials, files, and its disabled or expired keys. */
  async delete(accountId: string, idOrSlug: string): Promise<void> {
    const { tenancy, ledger, sources, changed, purgeDeleted } = this.#dependencies;
    const { id, fileMember } = await this.get(accountId, idOrSlug);
    refuseDeclared('workspace', fileMember);
    const atMs = sources.clock.now();
    const outcome = await tenancy.deleteWorkspace(accountId, id, atMs);
    if (outcome.kind !== 'deleted') throw REFUSALS[outcome.kind]();
    changed({ id, accountId });
    await purgeDeleted();
    await forgetSpending(ledger, 'key', outcome.keyHashes, atMs);
    await forgetSpending(ledger, 'workspace', [id], atMs);
  }
}

const REFUSALS = {
  missing: notFound,
  'slug-taken': slugTaken,
  'is-default': () => new GatewayError('permission', 'The default workspace cannot be deleted'),
  'has-active-keys': () =>
    new GatewayError(
      'invalid-request',
      'The workspace has active API keys: disable or delete them before it is deleted',
    ),
} as const;

function slugTaken(): GatewayError {
  return new GatewayError('conflict', 'slug: another workspace of this account has it');
}

/** Request member -> stored name. */
const STORED_NAMES = {
  name: 'name',
  slug: 'slug',
  description: 'description',
  default_text_model: 'defaultTextModel',
  default_image_model: 'defaultImageModel',
  default_provider_sort: 'defaultProviderSort',
  is_observability_io_logging_enabled: 'isObservabilityIoLoggingEnabled',
  is_observability_broadcast_enabled: 'isObservabilityBroadcastEnabled',
  is_data_discount_logging_enabled: 'isDataDiscountLoggingEnabled',
  io_logging_sampling_rate: 'ioLoggingSamplingRate',
  io_logging_api_key_ids: 'ioLoggingApiKeyIds',
} as const satisfies Record<keyof UpdateWorkspace, keyof WorkspaceSettings>;

function changeOf(wanted: UpdateWorkspace): Partial<WorkspaceSettings> {
  return Object.fromEntries(
    Object.entries(STORED_NAMES)
      .map(([member, stored]) => [stored, wanted[member as keyof UpdateWorkspace]])
      .filter(([, value]) => value !== undefined),
  );
}
