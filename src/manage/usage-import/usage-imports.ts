import { GatewayError } from '../../ir/errors.ts';
import type { AppRegistry, AppSighting } from '../../ports/apps.ts';
import type { Appended, EventStore } from '../../ports/events.ts';
import type { KeyStore, WorkspaceStore } from '../../ports/tenancy.ts';
import type { Accounts } from '../accounts/accounts.ts';
import type { UsageScopes } from './usage-owners.ts';

/** Events that were prepared to be taken in, by the name of their place. */
export interface PreparedUsage {
  /** The file of the bundle; undefined where there is none. */
  fileOf(name: string): string | undefined;
  /** What the registry of apps is to hear of. */
  appsOf(file: string): Promise<readonly AppSighting[]>;
}

/** What imports work on. */
export interface UsageImportsDependencies {
  readonly accounts: Pick<Accounts, 'require' | 'list'>;
  readonly tenancy: Pick<KeyStore, 'listKeys'> &
    Pick<WorkspaceStore, 'listWorkspaces' | 'defaultWorkspaceOf'>;
  readonly apps: Pick<AppRegistry, 'note'>;
  readonly events: Pick<EventStore, 'takeIn'>;
  readonly prepared: PreparedUsage;
}

const WORKSPACES_AT_ONCE = 1_000;

/** Usage from before, or from elsewhere: it is counted, and has nothing to do with limits and balances. */
export class UsageImports {
  readonly #parts: UsageImportsDependencies;

  constructor(parts: UsageImportsDependencies) {
    this.#parts = parts;
  }

  /** Whose usage can be imported: everybody's, or that of one account. */
  async scopesOf(accountName: string | undefined): Promise<UsageScopes> {
    const { accounts, tenancy } = this.#parts;
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

  /** Takes in what was prepared, all or none. */
  async takeIn(name: string): Promise<Appended> {
    const { prepared, apps, events } = this.#parts;
    const file = prepared.fileOf(name);
    if (file === undefined) {
      throw new GatewayError('not-found', 'what was prepared for the import is gone; import the file again');
    }
    // Apps first: usage of an app that nobody knows cannot be shown.
    await apps.note(await prepared.appsOf(file));
    return events.takeIn({ file });
  }

  async #workspacesOf(accountId: string): Promise<UsageScopes['workspaces']> {
    const found: { id: string; accountId: string }[] = [];
    for (let total = 1; found.length < total; ) {
      const page = await this.#parts.tenancy.listWorkspaces(accountId, {
        offset: found.length,
        limit: WORKSPACES_AT_ONCE,
      });
      if (page.workspaces.length === 0) break;
      found.push(...page.workspaces.map(({ id }) => ({ id, accountId })));
      total = page.total;
    }
    return found;
  }
}
