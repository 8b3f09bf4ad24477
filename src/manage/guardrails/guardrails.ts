import { accountGuardrailId, workspaceGuardrailId } from '../../contract/guardrails/default-guardrail-ids.ts';
import type {
  CreateGuardrail,
  GuardrailsQuery,
  UpdateGuardrail,
} from '../../contract/guardrails/guardrail.ts';
import type { GuardrailTrial, GuardrailVerdict } from '../../contract/guardrails/trial.ts';
import { GatewayError } from '../../ir/errors.ts';
import type { AssignedCounts, Guardrail, GuardrailStore } from '../../ports/tenancy/guardrails.ts';
import type { Tenancy } from '../../ports/tenancy/tenancy.ts';
import type { JudgesFor } from '../../stages/guardrails/judges/judge.ts';
import { notFound, refuseDeclared, requireFound } from '../refusals.ts';
import type { Sources } from '../sources.ts';
import { listedWorkspaceId, requireWorkspaceId } from '../workspaces/require-workspace-id.ts';
import { type CanonicalModel, guardrailChangeOf } from './guardrail-change.ts';
import { type GuardrailChecks, refuseGuardrailIssues } from './guardrail-issues.ts';
import { GUARDRAIL_DEFAULTS, newGuardrail } from './new-guardrail.ts';
import { tryGuardrail } from './try-guardrail.ts';

export interface GuardrailsDependencies {
  readonly store: GuardrailStore;
  readonly tenancy: Tenancy;
  readonly sources: Sources;
  readonly checks: () => GuardrailChecks;
  readonly canonicalModel: CanonicalModel;
  readonly judgesFor: JudgesFor;
  /** Called with the account of every guardrail that was created, changed or deleted. */
  readonly changed: (accountId: string) => void;
}

export const DEFAULT_PAGE = 50;

/** Guardrails of an account: all of them are read with each key. */
export const MAX_GUARDRAILS = 500;

/** In place of an id: the guardrail of the whole account. */
const ACCOUNT_DEFAULT = 'default';

const WORKSPACES_AT_ONCE = 1000;

/** Guardrails of accounts. Each operation sees one account; a guardrail of another is a 404. */
export class Guardrails {
  readonly #dependencies: GuardrailsDependencies;

  constructor(dependencies: GuardrailsDependencies) {
    this.#dependencies = dependencies;
  }

  async create(accountId: string, wanted: CreateGuardrail): Promise<Guardrail> {
    const { store, tenancy, sources, changed } = this.#dependencies;
    await refuseGuardrailIssues(wanted, this.#dependencies.checks());
    const workspaceId = await requireWorkspaceId(tenancy, accountId, wanted.workspace_id);
    await this.#requireRoom(accountId);
    const guardrail = await store.insert(
      newGuardrail({
        ...this.#changeOf(wanted, GUARDRAIL_DEFAULTS),
        id: sources.uuid(),
        accountId,
        workspaceId,
        name: wanted.name,
        createdAtMs: sources.clock.now(),
      }),
    );
    changed(accountId);
    return guardrail;
  }

  /** Guardrails of a workspace, or of all, oldest first. */
  async list(accountId: string, query: GuardrailsQuery) {
    const { store, tenancy } = this.#dependencies;
    const workspaceId = await listedWorkspaceId(tenancy, accountId, query);
    return store.list(
      { accountId, workspaceId },
      { offset: query.offset ?? 0, limit: query.limit ?? DEFAULT_PAGE },
    );
  }

  /** All of an account, oldest first. */
  listAll(accountId: string): Promise<Guardrail[]> {
    return this.#dependencies.store.listAll(accountId);
  }

  /** To how many keys and members a guardrail is assigned, for all of an account at once. */
  async assignedCounts(accountId: string): Promise<(guardrail: Guardrail) => AssignedCounts> {
    const counts = await this.#dependencies.store.countAssignments(accountId);
    return ({ id }) => counts.get(id) ?? { key: 0, member: 0 };
  }

  async get(accountId: string, id: string): Promise<Guardrail> {
    return requireFound(await this.#dependencies.store.find(accountId, idOf(accountId, id)));
  }

  /** The verdict of a guardrail on a text, without calling a model. */
  async test(accountId: string, id: string, trial: GuardrailTrial): Promise<GuardrailVerdict> {
    const { text: _text, direction: _direction, role: _role, ...filters } = trial;
    const stored = await this.get(accountId, id);
    await refuseGuardrailIssues(filters, this.#dependencies.checks());
    const tried = { ...stored, ...this.#changeOf(filters, stored) };
    return tryGuardrail(tried, trial, this.#dependencies.judgesFor);
  }

  /** Creates the default guardrail of the account or of a workspace that does not exist yet. */
  async update(accountId: string, given: string, wanted: UpdateGuardrail): Promise<Guardrail> {
    const { store, sources, changed } = this.#dependencies;
    const id = idOf(accountId, given);
    await refuseGuardrailIssues(wanted, this.#dependencies.checks());
    const known = await store.find(accountId, id);
    if (known === undefined) {
      await this.#requireRoom(accountId);
      await store.insert(requireFound(await this.#unstoredDefault(accountId, id)));
    } else refuseDeclared('guardrail', known.fileMember);
    const decide = (current: Guardrail) => this.#changeOf(wanted, current);
    const guardrail = requireFound(await store.update(accountId, id, decide, sources.clock.now()));
    changed(accountId);
    return guardrail;
  }

  async delete(accountId: string, given: string): Promise<void> {
    const { store, changed } = this.#dependencies;
    const { id, fileMember } = await this.get(accountId, given);
    refuseDeclared('guardrail', fileMember);
    if (!(await store.delete(accountId, id))) throw notFound();
    changed(accountId);
  }

  #changeOf(wanted: UpdateGuardrail, current: Pick<Guardrail, 'enforceZdr'>) {
    return guardrailChangeOf(wanted, current, this.#dependencies.canonicalModel);
  }

  async #requireRoom(accountId: string): Promise<void> {
    const { length } = await this.#dependencies.store.listAll(accountId);
    if (length < MAX_GUARDRAILS) return;
    throw new GatewayError(
      'invalid-request',
      `An account holds at most ${MAX_GUARDRAILS} guardrails; delete one first`,
    );
  }

  /** The default guardrail with this id before its first change; undefined if the id is of none. */
  async #unstoredDefault(accountId: string, id: string): Promise<Guardrail | undefined> {
    const { tenancy, sources } = this.#dependencies;
    const made = (workspaceId: string, name: string) =>
      newGuardrail({ id, accountId, workspaceId, name, createdAtMs: sources.clock.now() });
    if (id === accountGuardrailId(accountId)) {
      const workspace = await tenancy.defaultWorkspaceOf(accountId);
      return workspace && made(workspace.id, 'Account Default');
    }
    for (let offset = 0, total = 1; offset < total; offset += WORKSPACES_AT_ONCE) {
      const page = await tenancy.listWorkspaces(accountId, { offset, limit: WORKSPACES_AT_ONCE });
      total = page.total;
      const owner = page.workspaces.find((workspace) => workspaceGuardrailId(workspace.id) === id);
      if (owner !== undefined) return made(owner.id, defaultNameOf(owner.id));
    }
    return undefined;
  }
}

/** The name of a workspace's default guardrail until it is given another. */
export function defaultNameOf(workspaceId: string): string {
  return `Workspace ${workspaceId} Default`;
}

function idOf(accountId: string, given: string): string {
  const id = given.toLowerCase();
  return id === ACCOUNT_DEFAULT ? accountGuardrailId(accountId) : id;
}
