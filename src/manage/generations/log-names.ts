import type { LoggedGeneration } from '../../ports/events/events.ts';
import { type ClassifierStore, classifierOfKey, classifierTitle } from '../../ports/following/classifiers.ts';
import type { KeyStore, WorkspaceStore } from '../../ports/tenancy/tenancy.ts';

export interface LogNameSources {
  readonly tenancy: Pick<KeyStore, 'findKey'> & Pick<WorkspaceStore, 'findWorkspaceById'>;
  /** They stand in the place of keys in what they ask themselves. */
  readonly classifiers: Pick<ClassifierStore, 'find'>;
}

/** Names of the keys and workspaces in rows. Only those that occur are read, once: an account may have very many. */
export class LogNames {
  readonly #sources: LogNameSources;
  readonly #accountId: string;
  readonly #keys = new Map<string, string | null>();
  readonly #workspaces = new Map<string, string | null>();

  constructor(sources: LogNameSources, accountId: string) {
    this.#sources = sources;
    this.#accountId = accountId;
  }

  /** Reads the names of rows that are not known yet. */
  async learn(rows: readonly Pick<LoggedGeneration, 'keyHash' | 'workspaceId'>[]): Promise<void> {
    const keys = new Set(rows.flatMap(({ keyHash }) => (keyHash === null ? [] : [keyHash])));
    const workspaces = new Set(rows.map(({ workspaceId }) => workspaceId));
    for (const hash of keys) if (!this.#keys.has(hash)) this.#keys.set(hash, await this.#keyName(hash));
    for (const id of workspaces) {
      if (!this.#workspaces.has(id)) this.#workspaces.set(id, await this.#workspaceName(id));
    }
  }

  /** Null if there is no such key any more. */
  key(hash: string): string | null {
    return this.#keys.get(hash) ?? null;
  }

  /** Null if there is no such workspace any more. */
  workspace(id: string): string | null {
    return this.#workspaces.get(id) ?? null;
  }

  async #keyName(hash: string): Promise<string | null> {
    const classifierId = classifierOfKey(hash);
    if (classifierId !== undefined) {
      const classifier = await this.#sources.classifiers.find(this.#accountId, classifierId);
      return classifier === undefined ? null : classifierTitle(classifier.name);
    }
    const key = await this.#sources.tenancy.findKey(hash);
    return key === undefined || key.accountId !== this.#accountId ? null : key.name || key.label;
  }

  async #workspaceName(id: string): Promise<string | null> {
    return (await this.#sources.tenancy.findWorkspaceById(this.#accountId, id))?.name ?? null;
  }
}
