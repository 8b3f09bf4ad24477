import { GatewayError } from '../../ir/errors.ts';
import type { AppRegistry, AppSighting } from '../../ports/events/apps.ts';
import type { Appended, EventStore } from '../../ports/events/events.ts';
import type { KeyStore, WorkspaceStore } from '../../ports/tenancy/tenancy.ts';
import type { Accounts } from '../accounts/accounts.ts';
import type { UsageScopes } from './usage-owners.ts';

/** Bundles of events that an import has prepared in the data directory, by name. */
export interface PreparedUsage {
  /** The file of the bundle; undefined if there is none. */
  fileOf(name: string): string | undefined;
  /** Apps of the bundle, for the registry of apps. */
  appsOf(file: string): Promise<readonly AppSighting[]>;
}

export interface UsageImportsDependencies {
  readonly accounts: Pick<Accounts, 'require' | 'list'>;
  readonly tenancy: Pick<KeyStore, 'listKeys'> &
    Pick<WorkspaceStore, 'listWorkspaces' | 'defaultWorkspaceOf'>;
  readonly apps: Pick<AppRegistry, 'note'>;
  readonly events: Pick<EventStore, 'addBundle'>;
  readonly prepared: PreparedUsage;
}

const WORKSPACES_PER_PAGE = 1_000;

/** Imports usage of earlier times or of other gateways. Analytics count it; limits and balances do not. */
export class UsageImports {
  readonly #dependencies: UsageImportsDependencies;

  constructor(dependencies: UsageImportsDependencies) {
    this.#dependencies = dependencies;
  }

  /** The keys and workspaces that imported lines may name: those of one account, or of all. */
  async scopesOf(accountName: string | undefined): Promise<UsageScopes> {
    const { accounts, tenancy } = this.#dependencies;
    const account = await accounts.require(accountName);
    const workspace = await tenancy.defaultWorkspaceOf(account.id);
    if (workspace === undefined) throw new Error('an account has no default workspace');
    const owners = accountName === undefined ? await accounts.list() : [account];
    const keys = await tenancy.listKeys(accountName === undefined ? undefined : account.id);
    return {
      account: { id: account.id, workspaceId: workspace.id },
      keys: keys.map(({ hash, accountId, workspaceId, creatorUserId }) => ({
        hash,
        accountId,
        workspaceId,
        userId: creatorUserId,
      })),
      workspaces: (await Promise.all(owners.map(({ id }) => this.#workspacesOf(id)))).flat(),
    };
  }

  /** Takes in a prepared bundle, all of it or nothing. */
  async takeIn(name: string): Promise<Appended> {
    const { prepared, apps, events } = this.#dependencies;
    const file = prepared.fileOf(name);
    if (file === undefined) {
      throw new GatewayError('not-found', 'what was prepared for the import is gone; import the file again');
    }
    // Apps first: analytics and rankings look up the app of an event in the registry.
    await apps.note(await prepared.appsOf(file));
    return events.addBundle({ file });
  }

  async #workspacesOf(accountId: string): Promise<UsageScopes['workspaces']> {
    const found: { id: string; accountId: string }[] = [];
    for (let total = 1; found.length < total; ) {
      const page = await this.#dependencies.tenancy.listWorkspaces(accountId, {
        offset: found.length,
        limit: WORKSPACES_PER_PAGE,
      });
      if (page.workspaces.length === 0) break;
      found.push(...page.workspaces.map(({ id }) => ({ id, accountId })));
      total = page.total;
    }
    return found;
  }
}
