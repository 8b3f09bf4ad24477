import { isBlocked } from '../following/guardrail-entries.ts';
import { textAt } from '../kit/json/members.ts';
import { mapAtOnce } from '../kit/loop/map-at-once.ts';
import type { Clock } from '../kit/time/clock.ts';
import {
  type Classification,
  type ClassificationStore,
  type Classifier,
  isOfClassifier,
} from '../ports/following/classifiers.ts';
import type { FollowedGeneration } from '../ports/following/follower.ts';
import type { StoredGeneration } from '../ports/generations/generations.ts';
import type { FailedAsk } from './ask-failure.ts';
import type { Asked, AskModel } from './ask-model.ts';
import type { ClassificationCounts } from './classification-counts.ts';
import { transcriptOf } from './transcript.ts';

export interface ClassifyBatchDependencies {
  readonly model: Pick<AskModel, 'ask'>;
  readonly classifications: Pick<ClassificationStore, 'add' | 'classified'>;
  readonly counts: ClassificationCounts;
  readonly clock: Clock;
  /** Called after classifications were added. */
  readonly changed: () => void;
}

export interface BatchOutcome {
  /** Have tags now, or had been classified before. */
  readonly tagged: number;
  readonly withoutContent: number;
  /** The model has failed at them for good. */
  readonly failed: number;
  /** Why the rest was left; undefined = there is no rest. */
  readonly stopped: Exclude<FailedAsk, { kind: 'lost' }> | undefined;
}

/** Calls of a model at the same time. */
const AT_ONCE = 4;

/**
 * How often the first generation of a batch is tried while its model does not answer, before it is given up, because
 * others wait or a run is to end.
 */
const MAX_TRIES = 5;

/** Whether a classifier has anything to say of a generation: a conversation of a caller that did not fail. */
export function isClassified({ scopes, row }: StoredGeneration): boolean {
  return (
    !isOfClassifier(scopes) &&
    textAt(row, 'api_type') === 'completions' &&
    textAt(row, 'finish_reason') !== 'error' &&
    !isBlocked(row)
  );
}

/**
 * Classifies generations and stores what was said. A model that does not answer stops the batch: what is left is to be
 * given again. A generation that it answers for no reason is given up, so that it does not hold up all others.
 */
export class ClassifyBatch {
  readonly #dependencies: ClassifyBatchDependencies;
  /** The generation that has stopped the last batch, and how often. */
  #stuck: { readonly id: string; tries: number } | undefined;

  constructor(dependencies: ClassifyBatchDependencies) {
    this.#dependencies = dependencies;
  }

  /** `all`: those that `isClassified`. Rejects with the reason of the signal if that is aborted. */
  async classify(
    classifier: Classifier,
    all: readonly FollowedGeneration[],
    { run, signal }: { readonly run?: Asked['run']; readonly signal: AbortSignal },
  ): Promise<BatchOutcome> {
    const { classifications, counts, changed } = this.#dependencies;
    const known = await classifications.classified(
      classifier.id,
      all.map(({ generation }) => generation.id),
    );
    const asked = all.filter(({ generation, content }) => content !== undefined && !known.has(generation.id));
    const withoutContent = all.length - known.size - asked.length;
    counts.add('without_content', withoutContent);
    const { done, stopped } = await this.#ask(classifier, asked, run, signal);
    if (done.length > 0) {
      await classifications.add(done);
      changed();
    }
    const failed = done.filter(({ problem }) => problem !== null).length;
    counts.add('failed', failed);
    counts.add('classified', done.length - failed);
    if (stopped?.kind === 'over-budget') counts.add('over_budget', asked.length - done.length);
    return { tagged: known.size + done.length - failed, withoutContent, failed, stopped };
  }

  async #ask(
    classifier: Classifier,
    asked: readonly FollowedGeneration[],
    run: Asked['run'],
    signal: AbortSignal,
  ): Promise<{ readonly done: Classification[]; readonly stopped: BatchOutcome['stopped'] }> {
    const { model, clock } = this.#dependencies;
    let stopped: { readonly id: string; readonly by: NonNullable<BatchOutcome['stopped']> } | undefined;
    const results = await mapAtOnce(asked, AT_ONCE, async ({ generation, content }) => {
      if (stopped !== undefined || content === undefined) return undefined;
      const said = await model.ask(
        classifier,
        { transcript: transcriptOf(content), keyHash: generation.scopes.key, run },
        signal,
      );
      if (said.kind === 'waits' || said.kind === 'over-budget') {
        stopped ??= { id: generation.id, by: said };
        return undefined;
      }
      const { tags, problem } = said.kind === 'answered' ? said.verdict : { tags: {}, problem: said.problem };
      return classificationOf(classifier, generation, { tags, problem }, clock.now());
    });
    const done = results.flatMap((result) => result ?? []);
    if (stopped?.by.kind !== 'waits') return { done, stopped: stopped?.by };
    const { id, by } = stopped;
    if (this.#stuck?.id === id) this.#stuck.tries++;
    else this.#stuck = { id, tries: 1 };
    const holdsUpOthers = run !== undefined || asked.length > 1;
    if (this.#stuck.tries < MAX_TRIES || !holdsUpOthers) return { done, stopped: by };
    const given = asked.find(({ generation }) => generation.id === id);
    if (given !== undefined) {
      const verdict = { tags: {}, problem: `given up after ${MAX_TRIES} tries: ${by.problem}` };
      done.push(classificationOf(classifier, given.generation, verdict, clock.now()));
    }
    return { done, stopped: done.length === asked.length ? undefined : by };
  }
}

function classificationOf(
  { id: classifierId }: Classifier,
  { id: generationId, row, settledAtMs }: StoredGeneration,
  { tags, problem }: Pick<Classification, 'tags' | 'problem'>,
  classifiedAtMs: number,
): Classification {
  const createdAtMs = Date.parse(textAt(row, 'created_at') ?? '') || settledAtMs;
  return { classifierId, generationId, createdAtMs, tags, problem, classifiedAtMs };
}
