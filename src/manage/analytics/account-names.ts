import { forEachSliced, runInTurns } from '../../kit/loop/turns.ts';
import { originOf } from '../../kit/net/origin-of.ts';
import { maskedLabel } from '../../kit/text/masked-label.ts';
import type { App, AppRegistry } from '../../ports/apps.ts';
import type { KeyStore, WorkspaceStore } from '../../ports/tenancy.ts';
import type { AnalyticsDimension } from './analytics-names.ts';

/** Where names come from. */
export interface NameSources {
  readonly tenancy: Pick<KeyStore, 'listKeys'> & Pick<WorkspaceStore, 'listWorkspaces'>;
  readonly apps: Pick<AppRegistry, 'ofHosts'>;
}

/** Names by id. */
type Names = ReadonlyMap<string, string>;

const PAGE = 1_000;

/** What an account calls the things that its events name by id. Looked up once, when it is first asked for. */
export class AccountNames {
  readonly #sources: NameSources;
  readonly #accountId: string;
  #keys: Promise<Names> | undefined;
  #workspaces: Promise<Names> | undefined;

  constructor(sources: NameSources, accountId: string) {
    this.#sources = sources;
    this.#accountId = accountId;
  }

  /** Of its keys, by hash. */
  keys(): Promise<Names> {
    this.#keys ??= this.#readKeys();
    return this.#keys;
  }

  /** Of its workspaces. */
  workspaces(): Promise<Names> {
    this.#workspaces ??= this.#readWorkspaces();
    return this.#workspaces;
  }

  /** Of those of the apps that are known, by host. */
  async apps(hosts: readonly string[]): Promise<Names> {
    const apps = await this.#sources.apps.ofHosts(hosts);
    const names = new Map<string, string>();
    await runInTurns(forEachSliced(apps, (app) => names.set(app.host, titleOf(app))));
    return names;
  }

  async #readKeys(): Promise<Names> {
    const keys = await this.#sources.tenancy.listKeys(this.#accountId);
    return new Map(keys.map(({ hash, name, label }) => [hash, name === '' ? label : name]));
  }

  async #readWorkspaces(): Promise<Names> {
    const names = new Map<string, string>();
    for (let offset = 0; ; offset += PAGE) {
      const page = await this.#sources.tenancy.listWorkspaces(this.#accountId, { offset, limit: PAGE });
      for (const { id, name } of page.workspaces) names.set(id, name);
      if (page.workspaces.length < PAGE) return names;
    }
  }
}

function titleOf({ title, url, host }: App): string {
  return title ?? originOf(url) ?? host;
}

/** How the ids of a dimension are shown; one that has no name any more is shown by itself, that of a key masked. */
type ShowIds = (ids: readonly string[], names: AccountNames) => Promise<(id: string) => string>;

const SHOWN: Readonly<Partial<Record<AnalyticsDimension, ShowIds>>> = {
  api_key_id: async (_, names) => {
    const keys = await names.keys();
    return (hash) => keys.get(hash) ?? maskedLabel(hash);
  },
  workspace: async (_, names) => {
    const workspaces = await names.workspaces();
    return (id) => workspaces.get(id) ?? id;
  },
  app: async (hosts, names) => {
    const apps = await names.apps(hosts);
    return (host) => apps.get(host) ?? host;
  },
};

/** Whether the values of a dimension are shown as something else. */
export function isShownByName(dimension: string): boolean {
  return Object.hasOwn(SHOWN, dimension);
}

/** What each of the values of a dimension is shown as. However many there are, others have their turn. */
export async function shownValues(
  dimension: AnalyticsDimension,
  values: readonly (string | null)[],
  names: AccountNames,
): Promise<readonly (string | null)[]> {
  const show = SHOWN[dimension];
  if (show === undefined) return values;
  const ids = [...new Set(values)].filter((value) => value !== null);
  if (ids.length === 0) return values;
  const nameOf = await show(ids, names);
  const shown: (string | null)[] = [];
  await runInTurns(forEachSliced(values, (value) => shown.push(value === null ? null : nameOf(value))));
  return shown;
}
