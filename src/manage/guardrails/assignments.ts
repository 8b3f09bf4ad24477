import type { AssignmentsQuery } from '../../contract/guardrails/assignment.ts';
import { invalidRequest } from '../../ir/errors.ts';
import type { Issue } from '../../kit/json/validate.ts';
import type { AssignmentKind, GuardrailAssignment, GuardrailStore } from '../../ports/tenancy/guardrails.ts';
import type { Key, Tenancy } from '../../ports/tenancy/tenancy.ts';
import { refuseDeclared } from '../refusals.ts';
import type { Sources } from '../sources.ts';
import { DEFAULT_PAGE, type Guardrails } from './guardrails.ts';

export interface AssignmentsDependencies {
  readonly store: GuardrailStore;
  readonly guardrails: Pick<Guardrails, 'get'>;
  readonly tenancy: Tenancy;
  readonly sources: Sources;
  readonly changed: (accountId: string) => void;
  /** Logs what operators should know of. */
  readonly warn: (message: string, fields: Readonly<Record<string, unknown>>) => void;
}

/** An assignment of a key with the key; undefined if the key was deleted meanwhile. */
export interface AssignedKey {
  readonly assignment: GuardrailAssignment;
  readonly key: Key | undefined;
}

export interface Assigned {
  /** Keys or members that have the guardrail now. */
  readonly count: number;
  /** What they had before, if that was another guardrail. */
  readonly replaced: readonly GuardrailAssignment[];
}

/** The keys and members that guardrails are assigned to. Each operation sees one account. */
export class GuardrailAssignments {
  readonly #dependencies: AssignmentsDependencies;

  constructor(dependencies: AssignmentsDependencies) {
    this.#dependencies = dependencies;
  }

  /** Assigns keys or members, in place of what they had. `by`: the management key. */
  async assign(
    by: Pick<Key, 'accountId' | 'creatorUserId'>,
    guardrailId: string,
    kind: AssignmentKind,
    given: readonly string[],
  ): Promise<Assigned> {
    const { store, guardrails, sources, changed, warn } = this.#dependencies;
    const { accountId, creatorUserId } = by;
    const { id } = await guardrails.get(accountId, guardrailId);
    const subjects = [...new Set(given)];
    if (kind === 'key') await this.#refuseForeignKeys(accountId, given);
    for (const subject of subjects) await this.#refuseDeclared(accountId, kind, subject);
    const replaced = await store.assign(
      subjects.map((subject) => ({
        id: sources.uuid(),
        guardrailId: id,
        accountId,
        kind,
        subject,
        assignedBy: creatorUserId,
        createdAtMs: sources.clock.now(),
        fileMember: null,
      })),
    );
    changed(accountId);
    for (const before of replaced) {
      warn('a guardrail replaced another, whose rules no longer hold', {
        guardrail_id: id,
        replaced_guardrail_id: before.guardrailId,
        [kind]: before.subject,
      });
    }
    return { count: subjects.length, replaced };
  }

  /** Removes keys or members from a guardrail. Resolves with the number of those that had it. */
  async unassign(
    accountId: string,
    guardrailId: string,
    kind: AssignmentKind,
    given: readonly string[],
  ): Promise<number> {
    const { store, guardrails, changed } = this.#dependencies;
    const { id } = await guardrails.get(accountId, guardrailId);
    const subjects = [...new Set(given)];
    for (const subject of subjects) await this.#refuseDeclared(accountId, kind, subject);
    const removed = await store.unassign(id, kind, subjects);
    changed(accountId);
    return removed;
  }

  /** Assignments of one guardrail, or of all of the account, oldest first. */
  async list(
    accountId: string,
    kind: AssignmentKind,
    guardrailId: string | undefined,
    query: AssignmentsQuery,
  ): Promise<{ readonly assignments: GuardrailAssignment[]; readonly total: number }> {
    const { store, guardrails } = this.#dependencies;
    const filter = {
      accountId,
      kind,
      guardrailId: guardrailId === undefined ? undefined : (await guardrails.get(accountId, guardrailId)).id,
      subject: kind === 'key' ? query.key_hash : query.user_id,
    };
    return store.listAssignments(filter, { offset: query.offset ?? 0, limit: query.limit ?? DEFAULT_PAGE });
  }

  async withKeys(assignments: readonly GuardrailAssignment[]): Promise<AssignedKey[]> {
    const { tenancy } = this.#dependencies;
    return Promise.all(
      assignments.map(async (assignment) => ({ assignment, key: await tenancy.findKey(assignment.subject) })),
    );
  }

  /** Throws for foreign keys, and for management keys: they generate nothing, so a guardrail has no effect. */
  async #refuseForeignKeys(accountId: string, hashes: readonly string[]): Promise<void> {
    const issues: Issue[] = [];
    for (const [index, hash] of hashes.entries()) {
      const key = await this.#dependencies.tenancy.findKey(hash);
      if (key?.accountId === accountId && !key.isManagement) continue;
      issues.push({ path: `key_hashes[${index}]`, message: 'is not the hash of an API key of this account' });
    }
    if (issues.length > 0) throw invalidRequest(issues);
  }

  async #refuseDeclared(accountId: string, kind: AssignmentKind, subject: string): Promise<void> {
    const subjects = kind === 'key' ? { key: subject, member: null } : { key: '', member: subject };
    for (const assignment of await this.#dependencies.store.assignmentsOf(accountId, subjects)) {
      refuseDeclared('assignment', assignment.fileMember);
    }
  }
}
