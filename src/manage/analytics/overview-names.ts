import type { OverviewDimension } from '../../contract/analytics/overview.ts';
import { maskedLabel } from '../../kit/text/masked-label.ts';
import type { KeyStore, WorkspaceStore } from '../../ports/tenancy/tenancy.ts';
import { appTitleOf, type NameSources } from './account-names.ts';

export interface OverviewNameSources {
  readonly tenancy: Pick<KeyStore, 'findKey'> & Pick<WorkspaceStore, 'findWorkspaceById'>;
  readonly apps: NameSources['apps'];
}

type Ids = readonly (string | null)[];

/** The name of a group without a value. */
const UNSET: Readonly<Record<OverviewDimension, string>> = {
  model: 'no model',
  provider: 'no provider',
  key: 'no key',
  workspace: 'no workspace',
  app: 'no app',
};

/** Reads the names of the given ids only: an account may have very many keys. */
const NAMES: Readonly<
  Record<
    OverviewDimension,
    (ids: readonly string[], accountId: string, sources: OverviewNameSources) => Promise<Map<string, string>>
  >
> = {
  model: async () => new Map(),
  provider: async () => new Map(),
  async key(hashes, accountId, { tenancy }) {
    const names = await Promise.all(
      hashes.map(async (hash): Promise<[string, string]> => {
        const key = await tenancy.findKey(hash);
        if (key?.accountId !== accountId) return [hash, maskedLabel(hash)];
        return [hash, key.name === '' ? key.label : key.name];
      }),
    );
    return new Map(names);
  },
  async workspace(ids, accountId, { tenancy }) {
    const names = await Promise.all(
      ids.map(async (id): Promise<[string, string]> => {
        const workspace = await tenancy.findWorkspaceById(accountId, id);
        return [id, workspace?.name ?? id];
      }),
    );
    return new Map(names);
  },
  async app(hosts, _accountId, { apps }) {
    return new Map((await apps.ofHosts(hosts)).map((app) => [app.host, appTitleOf(app)]));
  },
};

/** Display names of groups, in their order. */
export async function groupNames(
  by: OverviewDimension,
  ids: Ids,
  accountId: string,
  sources: OverviewNameSources,
): Promise<readonly string[]> {
  const known = ids.filter((id) => id !== null);
  const names = await NAMES[by](known, accountId, sources);
  return ids.map((id) => (id === null ? UNSET[by] : (names.get(id) ?? id)));
}
