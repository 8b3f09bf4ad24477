import { isSampled } from '../following/sampling.ts';
import {
  type Classifier,
  type ClassifierStore,
  classifierFollowerId,
} from '../ports/following/classifiers.ts';
import {
  type FollowedGeneration,
  type Follower,
  type FollowerSource,
  FollowerWaits,
} from '../ports/following/follower.ts';
import { ClassifyBatch, type ClassifyBatchDependencies, isClassified } from './classify-batch.ts';

/** Generations that may be asked again after a crash. */
const BATCH_SIZE = 16;

/** What waits longer is left out: prompts and answers are not kept for ever. */
const BOUNDS = { maxAgeMs: 86_400_000, maxGenerations: 100_000 };

export interface ClassifierFollowersDependencies extends ClassifyBatchDependencies {
  readonly store: Pick<ClassifierStore, 'listActive'>;
}

export class ClassifierFollowers implements FollowerSource {
  readonly #dependencies: ClassifierFollowersDependencies;
  /** Batches by classifier, so that what a batch has learnt outlives a change of settings. */
  readonly #batches = new Map<string, ClassifyBatch>();

  constructor(dependencies: ClassifierFollowersDependencies) {
    this.#dependencies = dependencies;
  }

  async followers(): Promise<readonly Follower[]> {
    const active = await this.#dependencies.store.listActive();
    const ids = new Set(active.map(({ id }) => id));
    for (const id of this.#batches.keys()) if (!ids.has(id)) this.#batches.delete(id);
    return active.map((classifier) => this.#followerOf(classifier));
  }

  #followerOf(classifier: Classifier): Follower {
    const { id, workspaceId, createdAtMs, updatedAtMs } = classifier;
    const batch = this.#batches.get(id) ?? new ClassifyBatch(this.#dependencies);
    this.#batches.set(id, batch);
    const changedAtMs = updatedAtMs ?? createdAtMs;
    return {
      id: classifierFollowerId(id),
      version: String(changedAtMs),
      workspaceId,
      sinceMs: changedAtMs,
      bounds: BOUNDS,
      batchSize: BATCH_SIZE,
      readsContent: true,
      take: (generations, signal) => take(batch, classifier, generations, signal),
    };
  }
}

async function take(
  batch: ClassifyBatch,
  classifier: Classifier,
  generations: readonly FollowedGeneration[],
  signal: AbortSignal,
): Promise<void> {
  const wanted = generations.filter(
    ({ generation }) => isClassified(generation) && isSampled(generation, classifier.samplingRate),
  );
  if (wanted.length === 0) return;
  const { stopped } = await batch.classify(classifier, wanted, { signal });
  // Without a budget nothing is kept until the next month.
  if (stopped?.kind === 'waits') {
    const { problem, retryAfterMs } = stopped;
    throw new FollowerWaits(problem, { retryAfterMs });
  }
}
