import { forEachSliced, runInTurns } from '../../kit/loop/turns.ts';
import { originOf } from '../../kit/net/origin-of.ts';
import { maskedLabel } from '../../kit/text/masked-label.ts';
import type { App, AppRegistry } from '../../ports/events/apps.ts';
import { type ClassifierStore, classifierKey, classifierTitle } from '../../ports/following/classifiers.ts';
import type { KeyStore, WorkspaceStore } from '../../ports/tenancy/tenancy.ts';
import type { AnalyticsDimension } from './analytics-names.ts';

export interface NameSources {
  readonly tenancy: Pick<KeyStore, 'listKeys'> & Pick<WorkspaceStore, 'listWorkspaces'>;
  readonly apps: Pick<AppRegistry, 'ofHosts'>;
  /** They stand in the place of keys in what they ask themselves. */
  readonly classifiers: Pick<ClassifierStore, 'list'>;
}

type Names = ReadonlyMap<string, string>;

const WORKSPACES_PER_PAGE = 1_000;

/** Further ones are shown by their masked ids. */
const MAX_CLASSIFIERS = 1_000;

/** Display names for the ids in an account's events. Each kind is read once, on first use. */
export class AccountNames {
  readonly #sources: NameSources;
  readonly #accountId: string;
  #keys: Promise<Names> | undefined;
  #workspaces: Promise<Names> | undefined;

  constructor(sources: NameSources, accountId: string) {
    this.#sources = sources;
    this.#accountId = accountId;
  }

  keys(): Promise<Names> {
    this.#keys ??= this.#readKeys();
    return this.#keys;
  }

  workspaces(): Promise<Names> {
    this.#workspaces ??= this.#readWorkspaces();
    return this.#workspaces;
  }

  async apps(hosts: readonly string[]): Promise<Names> {
    const apps = await this.#sources.apps.ofHosts(hosts);
    const names = new Map<string, string>();
    await runInTurns(forEachSliced(apps, (app) => names.set(app.host, appTitleOf(app))));
    return names;
  }

  async #readKeys(): Promise<Names> {
    const { tenancy, classifiers: store } = this.#sources;
    const keys = await tenancy.listKeys(this.#accountId);
    const { classifiers } = await store.list(this.#accountId, null, { offset: 0, limit: MAX_CLASSIFIERS });
    return new Map([
      ...keys.map(({ hash, name, label }) => [hash, name === '' ? label : name] as const),
      ...classifiers.map(({ id, name }) => [classifierKey(id), classifierTitle(name)] as const),
    ]);
  }

  async #readWorkspaces(): Promise<Names> {
    const names = new Map<string, string>();
    for (let offset = 0; ; offset += WORKSPACES_PER_PAGE) {
      const page = await this.#sources.tenancy.listWorkspaces(this.#accountId, {
        offset,
        limit: WORKSPACES_PER_PAGE,
      });
      for (const { id, name } of page.workspaces) names.set(id, name);
      if (page.workspaces.length < WORKSPACES_PER_PAGE) return names;
    }
  }
}

export function appTitleOf({ title, url, host }: App): string {
  return title ?? originOf(url) ?? host;
}

/** Loads names for ids and returns the display function. An id without a name is shown itself; a key's hash masked. */
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

export function isShownByName(dimension: string): boolean {
  return Object.hasOwn(SHOWN, dimension);
}

/** Display names of a dimension's values. Yields to the event loop. */
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
