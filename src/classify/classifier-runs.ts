import type { RunsQuery, StartRun } from '../contract/classifiers/run.ts';
import { GatewayError, invalidRequest } from '../ir/errors.ts';
import { nanosOf } from '../kit/money.ts';
import type { Classifiers } from '../manage/classifiers/classifiers.ts';
import { queryMomentMs } from '../manage/query-moment.ts';
import { requireFound } from '../manage/refusals.ts';
import type { Sources } from '../manage/sources.ts';
import type { ClassifierRun, ClassifierRunStore } from '../ports/following/classifiers.ts';

export interface ClassifierRunsDependencies {
  readonly store: ClassifierRunStore;
  readonly classifiers: Pick<Classifiers, 'get'>;
  readonly sources: Sources;
  /** Called after a run was started. */
  readonly started: () => void;
}

const DEFAULT_DAYS = 31;
const MAX_DAYS = 366;
const DAY_MS = 86_400_000;
const DEFAULT_PAGE = 50;

/** Runs of classifiers over the past. Each operation sees one account; a run of another is a 404. */
export class ClassifierRuns {
  readonly #dependencies: ClassifierRunsDependencies;

  constructor(dependencies: ClassifierRunsDependencies) {
    this.#dependencies = dependencies;
  }

  /** Throws 400, 404 or 409. */
  async start(accountId: string, classifierId: string, wanted: StartRun): Promise<ClassifierRun> {
    const { store, classifiers, sources, started } = this.#dependencies;
    await classifiers.get(accountId, classifierId);
    const nowMs = sources.clock.now();
    const { fromMs, toMs } = rangeOf(wanted, nowMs);
    const budgetNanos = typeof wanted.budget_usd === 'number' ? nanosOf(wanted.budget_usd) : null;
    if (budgetNanos === 0n) {
      throw invalidRequest([{ path: 'budget_usd', message: 'must be a nano-dollar or more' }]);
    }
    const run: ClassifierRun = {
      id: sources.uuid(),
      classifierId,
      accountId,
      fromMs,
      toMs,
      budgetNanos,
      progress: {
        state: 'running',
        place: null,
        seen: 0,
        tagged: 0,
        withoutContent: 0,
        failed: 0,
        spentNanos: 0n,
        problem: null,
        updatedAtMs: nowMs,
      },
      createdAtMs: nowMs,
    };
    if (!(await store.insert(run))) {
      throw new GatewayError(
        'conflict',
        'a run of this classifier is under way; stop it first, or wait for its end',
      );
    }
    started();
    return run;
  }

  async list(accountId: string, classifierId: string, { offset, limit }: RunsQuery) {
    const { store, classifiers } = this.#dependencies;
    await classifiers.get(accountId, classifierId);
    return store.list(accountId, classifierId, { offset: offset ?? 0, limit: limit ?? DEFAULT_PAGE });
  }

  async get(accountId: string, classifierId: string, id: string): Promise<ClassifierRun> {
    return requireFound(await this.#dependencies.store.find(accountId, classifierId, id));
  }

  /** Ends a run; one that has ended stays as it is. */
  async stop(accountId: string, classifierId: string, id: string): Promise<ClassifierRun> {
    const { store, sources } = this.#dependencies;
    const { progress } = await this.get(accountId, classifierId, id);
    await store.note(id, {
      ...progress,
      state: 'stopped',
      problem: 'it was stopped',
      updatedAtMs: sources.clock.now(),
    });
    return this.get(accountId, classifierId, id);
  }
}

function rangeOf({ time_range: range }: StartRun, nowMs: number) {
  if (range === undefined) return { fromMs: nowMs - DEFAULT_DAYS * DAY_MS, toMs: nowMs };
  const fromMs = queryMomentMs('time_range.start', range.start);
  // What is settled from now on is classified anyway.
  const toMs = Math.min(queryMomentMs('time_range.end', range.end), nowMs);
  if (fromMs >= toMs)
    throw invalidRequest([{ path: 'time_range', message: 'must begin before its end and before now' }]);
  if (toMs - fromMs > MAX_DAYS * DAY_MS) {
    throw invalidRequest([{ path: 'time_range', message: `must be at most ${MAX_DAYS} days long` }]);
  }
  return { fromMs, toMs };
}
