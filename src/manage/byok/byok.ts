import type { ByokQuery, CreateByok, UpdateByok } from '../../contract/workspaces/byok.ts';
import { GatewayError, invalidRequest } from '../../ir/errors.ts';
import type { Issue } from '../../kit/json/validate.ts';
import type { EgressRules } from '../../kit/net/egress.ts';
import { quoted } from '../../kit/text/quoted.ts';
import type { ByokChange, ByokStore, StoredByokCredential } from '../../ports/tenancy/byok.ts';
import type { Tenancy } from '../../ports/tenancy/tenancy.ts';
import { notFound, refuseDeclared, requireFound } from '../refusals.ts';
import type { Sources } from '../sources.ts';
import { listedWorkspaceId, requireWorkspaceId } from '../workspaces/require-workspace-id.ts';
import { BYOK_DEFAULTS, byokChangeOf, combinationIssues, mcpTokenIssues } from './byok-change.ts';
import {
  type CredentialProvider,
  type CredentialTarget,
  checkSecret,
  credentialTarget,
} from './byok-secret.ts';
import type { Vault } from './vault.ts';

export interface ByokDependencies {
  readonly store: ByokStore;
  readonly tenancy: Tenancy;
  readonly vault: Vault;
  readonly sources: Sources;
  readonly providers: () => readonly CredentialProvider[];
  readonly egress: () => EgressRules;
  /** Called with the account of every credential that was created, changed or deleted. */
  readonly changed: (accountId: string) => void;
}

const DEFAULT_PAGE = 50;

/** Credentials of an account: every request examines all of them. */
export const MAX_CREDENTIALS = 500;

/** Provider credentials of accounts. Each operation sees one account; a credential of another is a 404. */
export class Byok {
  readonly #dependencies: ByokDependencies;

  constructor(dependencies: ByokDependencies) {
    this.#dependencies = dependencies;
  }

  async create(accountId: string, wanted: CreateByok): Promise<StoredByokCredential> {
    const { store, vault, sources, changed } = this.#dependencies;
    const { provider } = wanted;
    const issues = [
      ...this.issuesOf(wanted),
      ...(await this.#foreignKeyIssues(accountId, wanted.allowed_api_key_hashes)),
    ];
    if (issues.length > 0) throw invalidRequest(issues);
    const label = this.#labelOf(wanted.key, this.#targetOf(provider));
    const workspaceId =
      wanted.workspace_id === null
        ? null
        : await requireWorkspaceId(this.#dependencies.tenancy, accountId, wanted.workspace_id);
    const change = byokChangeOf(wanted);
    await this.#requireRoom(accountId);
    const owner = { id: sources.uuid(), accountId, provider };
    const stored = await store.insert({
      ...BYOK_DEFAULTS,
      ...change,
      ...owner,
      workspaceId,
      label,
      encryptedSecret: vault.encrypt(owner, wanted.key),
      version: 1,
      createdAtMs: sources.clock.now(),
      updatedAtMs: null,
      fileMember: null,
    });
    changed(accountId);
    return stored;
  }

  /** All problems of a new credential that can be found without the database. */
  issuesOf({ provider, key, ...wanted }: Partial<CreateByok>): Issue[] {
    const target = provider === undefined ? undefined : this.#findTarget(provider);
    const issues = combinationIssues({ ...BYOK_DEFAULTS, ...byokChangeOf(wanted) });
    if (provider !== undefined && target === undefined) issues.push(unknownProvider(provider));
    if (provider !== undefined) issues.push(...mcpTokenIssues(provider, wanted));
    if (target === undefined || key === undefined) return issues;
    const secret = checkSecret(key, target, this.#dependencies.egress());
    return 'problem' in secret ? [{ path: 'key', message: secret.problem }, ...issues] : issues;
  }

  async #requireRoom(accountId: string): Promise<void> {
    const { length } = await this.#dependencies.store.listAll(accountId);
    if (length < MAX_CREDENTIALS) return;
    throw new GatewayError(
      'invalid-request',
      `provider: an account holds at most ${MAX_CREDENTIALS} credentials; delete one first`,
    );
  }

  async list(
    accountId: string,
    query: ByokQuery,
  ): Promise<{ readonly credentials: StoredByokCredential[]; readonly total: number }> {
    const { store } = this.#dependencies;
    if (query.provider !== undefined) this.#targetOf(query.provider);
    const workspaceId = await listedWorkspaceId(this.#dependencies.tenancy, accountId, query);
    return store.list(
      {
        accountId,
        workspaceId,
        ...(query.provider !== undefined && { provider: query.provider }),
      },
      { offset: query.offset ?? 0, limit: query.limit ?? DEFAULT_PAGE },
    );
  }

  /** All credentials of an account, by provider, then place. */
  listAll(accountId: string): Promise<StoredByokCredential[]> {
    return this.#dependencies.store.listAll(accountId);
  }

  async get(accountId: string, id: string): Promise<StoredByokCredential> {
    return requireFound(await this.#dependencies.store.find(accountId, id));
  }

  async update(accountId: string, id: string, wanted: UpdateByok): Promise<StoredByokCredential> {
    const { store, sources, changed } = this.#dependencies;
    const { provider, fileMember } = await this.get(accountId, id);
    refuseDeclared('credential', fileMember);
    const target = wanted.key === undefined ? undefined : this.#targetOf(provider);
    const foreign = await this.#foreignKeyIssues(accountId, wanted.allowed_api_key_hashes);
    const issues = [...foreign, ...mcpTokenIssues(provider, wanted)];
    if (issues.length > 0) throw invalidRequest(issues);
    const decide = (current: StoredByokCredential): ByokChange => {
      const change = { ...byokChangeOf(wanted), ...this.#newSecret(current, wanted.key, target) };
      const issues = combinationIssues({ ...current, ...change });
      if (issues.length > 0) throw invalidRequest(issues);
      return change;
    };
    const stored = requireFound(await store.update(accountId, id, decide, sources.clock.now()));
    if (wanted.key !== undefined) await store.purgeWipedSecrets();
    changed(accountId);
    return stored;
  }

  async delete(accountId: string, id: string): Promise<void> {
    const { store, sources, changed } = this.#dependencies;
    refuseDeclared('credential', (await this.get(accountId, id)).fileMember);
    if (!(await store.delete(accountId, id, sources.clock.now()))) throw notFound();
    changed(accountId);
  }

  #newSecret(
    current: StoredByokCredential,
    key: string | undefined,
    target: CredentialTarget | undefined,
  ): ByokChange {
    if (key === undefined || target === undefined) return {};
    return {
      label: this.#labelOf(key, target),
      encryptedSecret: this.#dependencies.vault.encrypt(current, key),
      version: current.version + 1,
    };
  }

  #labelOf(key: string, target: CredentialTarget): string {
    const secret = checkSecret(key, target, this.#dependencies.egress());
    if ('label' in secret) return secret.label;
    throw invalidRequest([{ path: 'key', message: secret.problem }]);
  }

  #targetOf(slug: string): CredentialTarget {
    const target = this.#findTarget(slug);
    if (target === undefined) throw invalidRequest([unknownProvider(slug)]);
    return target;
  }

  #findTarget(slug: string): CredentialTarget | undefined {
    return credentialTarget(slug, this.#dependencies.providers());
  }

  /** Refuses hashes of unknown keys: a list of only such hashes would silently disable the credential. */
  async #foreignKeyIssues(accountId: string, hashes: readonly string[] | null | undefined): Promise<Issue[]> {
    const issues: Issue[] = [];
    for (const [index, hash] of (hashes ?? []).entries()) {
      const key = await this.#dependencies.tenancy.findKey(hash);
      if (key?.accountId === accountId) continue;
      const path = `allowed_api_key_hashes[${index}]`;
      issues.push({ path, message: 'is not the hash of a key of this account' });
    }
    return issues;
  }
}

export function unknownProvider(slug: string): Issue {
  return { path: 'provider', message: `${quoted(slug)} is not a provider that this gateway knows` };
}
