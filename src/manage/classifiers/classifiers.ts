import type {
  ClassifiersQuery,
  CreateClassifier,
  UpdateClassifier,
} from '../../contract/classifiers/classifier.ts';
import type { ShownClassifier } from '../../contract/classifiers/classifier-object.ts';
import { GatewayError, invalidRequest } from '../../ir/errors.ts';
import type { Issue } from '../../kit/json/validate.ts';
import {
  type ClassificationStore,
  type Classifier,
  type ClassifierEdit,
  type ClassifierStore,
  classifierFollowerId,
  classifierKey,
} from '../../ports/following/classifiers.ts';
import type { FollowerNotes } from '../../ports/following/follower-notes.ts';
import type { Ledger } from '../../ports/money/ledger.ts';
import type { Tenancy, Workspace } from '../../ports/tenancy/tenancy.ts';
import { ledgerOr503, notFound, refuseDeclared, requireFound } from '../refusals.ts';
import type { Sources } from '../sources.ts';
import { spentNanos } from '../spent-of-limit.ts';
import { listedWorkspaceId, requireWorkspaceId } from '../workspaces/require-workspace-id.ts';
import {
  CLASSIFIER_DEFAULTS,
  type ClassifierChecks,
  classifierChangeOf,
  classifierIssues,
  type WantedClassifier,
} from './classifier-change.ts';

export interface ClassifiersDependencies {
  readonly store: ClassifierStore;
  readonly classifications: Pick<ClassificationStore, 'lastProblem'>;
  readonly notes: Pick<FollowerNotes, 'listAll'>;
  readonly tenancy: Tenancy;
  readonly ledger: Pick<Ledger, 'spendingOf'>;
  readonly sources: Sources;
  readonly checks: () => ClassifierChecks;
  /** Called with the workspace of every classifier that was created, changed or deleted. */
  readonly changed: (workspace: Pick<Workspace, 'id' | 'accountId'>) => void;
}

const DEFAULT_PAGE = 50;

/** Classifiers of accounts. Each operation sees one account; a classifier of another is a 404. */
export class Classifiers {
  readonly #dependencies: ClassifiersDependencies;

  constructor(dependencies: ClassifiersDependencies) {
    this.#dependencies = dependencies;
  }

  async create(accountId: string, wanted: CreateClassifier): Promise<ShownClassifier> {
    const { store, tenancy, sources } = this.#dependencies;
    this.#requireValid(wanted);
    const { name, model, dimensions } = wanted;
    const workspaceId = await requireWorkspaceId(tenancy, accountId, wanted.workspace_id);
    const stored = await store.insert({
      ...CLASSIFIER_DEFAULTS,
      name,
      model,
      dimensions: [],
      ...classifierChangeOf({ ...wanted, dimensions }),
      id: sources.uuid(),
      accountId,
      workspaceId,
      createdAtMs: sources.clock.now(),
      updatedAtMs: null,
      fileMember: null,
    });
    if (stored === 'has-active') throw hasActive();
    this.#changed(stored);
    return { classifier: stored, spentNanos: 0n, note: undefined, lastProblem: undefined };
  }

  /** All problems of the valid members of a classifier that can be found without the database. */
  issuesOf(wanted: WantedClassifier): Issue[] {
    return classifierIssues(wanted, this.#dependencies.checks());
  }

  async list(
    accountId: string,
    query: ClassifiersQuery,
  ): Promise<{ readonly classifiers: readonly ShownClassifier[]; readonly total: number }> {
    const { store, tenancy } = this.#dependencies;
    const workspaceId = await listedWorkspaceId(tenancy, accountId, query);
    const { classifiers, total } = await store.list(accountId, workspaceId, {
      offset: query.offset ?? 0,
      limit: query.limit ?? DEFAULT_PAGE,
    });
    return { classifiers: await this.#shown(classifiers), total };
  }

  /** One with what has become of it. */
  async show(accountId: string, id: string): Promise<ShownClassifier> {
    return this.#shownOne(await this.get(accountId, id));
  }

  async get(accountId: string, id: string): Promise<Classifier> {
    return requireFound(await this.#dependencies.store.find(accountId, id));
  }

  async update(accountId: string, id: string, wanted: UpdateClassifier): Promise<ShownClassifier> {
    const { store, sources, tenancy } = this.#dependencies;
    const { fileMember, workspaceId } = await this.get(accountId, id);
    refuseDeclared('classifier', fileMember);
    this.#requireValid(wanted);
    if (
      wanted.is_active === true &&
      (await tenancy.findWorkspaceById(accountId, workspaceId)) === undefined
    ) {
      throw new GatewayError('conflict', 'is_active: the workspace of this classifier was deleted');
    }
    const decide = (current: Classifier): ClassifierEdit => {
      refuseDeclared('classifier', current.fileMember);
      return classifierChangeOf(wanted);
    };
    const stored = requireFound(await store.update(accountId, id, decide, sources.clock.now()));
    if (stored === 'has-active') throw hasActive();
    this.#changed(stored);
    return this.#shownOne(stored);
  }

  /** Its tags stay with their generations. */
  async delete(accountId: string, id: string): Promise<void> {
    const { store } = this.#dependencies;
    const classifier = await this.get(accountId, id);
    refuseDeclared('classifier', classifier.fileMember);
    if (!(await store.delete(accountId, id))) throw notFound();
    this.#changed(classifier);
  }

  #requireValid(wanted: WantedClassifier): void {
    const issues = this.issuesOf(wanted);
    if (issues.length > 0) throw invalidRequest(issues);
  }

  async #shownOne(classifier: Classifier): Promise<ShownClassifier> {
    const [shown] = await this.#shown([classifier]);
    return requireFound(shown);
  }

  async #shown(classifiers: readonly Classifier[]): Promise<ShownClassifier[]> {
    if (classifiers.length === 0) return [];
    const { ledger, classifications, notes, sources } = this.#dependencies;
    const keys = classifiers.map(({ id }) => classifierKey(id));
    const [spendings, noted, problems] = await Promise.all([
      ledgerOr503(ledger.spendingOf('key', keys, sources.clock.now())),
      notes.listAll(),
      Promise.all(classifiers.map(({ id }) => classifications.lastProblem(id))),
    ]);
    return classifiers.map((classifier, index) => {
      const spending = spendings[index];
      if (spending === undefined) throw new Error('the ledger left a classifier out');
      return {
        classifier,
        spentNanos: spentNanos({ window: 'monthly', countsByok: true }, spending),
        note: classifier.isActive ? noted.get(classifierFollowerId(classifier.id)) : undefined,
        lastProblem: problems[index],
      };
    });
  }

  #changed({ workspaceId: id, accountId }: Classifier): void {
    this.#dependencies.changed({ id, accountId });
  }
}

function hasActive(): GatewayError {
  return new GatewayError(
    'conflict',
    'is_active: the workspace has an active classifier already; deactivate that one first',
  );
}
