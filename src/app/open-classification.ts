import { AskModel } from '../classify/ask-model.ts';
import { ClassificationCounts } from '../classify/classification-counts.ts';
import { ClassifierFollowers } from '../classify/classifier-followers.ts';
import { ClassifierRuns } from '../classify/classifier-runs.ts';
import { RunWorker } from '../classify/run-worker.ts';
import type { DecisionForm } from '../ir/decision.ts';
import { randomIds } from '../kit/ids.ts';
import type { Log } from '../kit/log/log.ts';
import { systemClock } from '../kit/time/clock.ts';
import type { ContentStore } from '../ports/content/content.ts';
import type { RunningSettings } from '../settings/running-settings.ts';
import type { Closers } from './closers.ts';
import type { Engine } from './engine.ts';
import type { Installation } from './installation.ts';

export interface ClassificationSources {
  readonly installation: Installation;
  readonly engine: Pick<Engine, 'gateway'>;
  readonly settings: RunningSettings;
  readonly contents: ContentStore;
  /** How long a model may take, milliseconds; a minute by default. */
  readonly classifierMs: number | undefined;
  readonly log: Log;
}

export interface Classification {
  readonly model: AskModel;
  /** The active classifiers, for what tells followers of settled generations. */
  readonly followers: ClassifierFollowers;
  readonly runs: ClassifierRuns;
  readonly counts: ClassificationCounts;
}

/** Opens what classifies, in the process that has the data directory. Its runs over the past go on at once. */
export function openClassification(
  { installation, engine, settings, contents, classifierMs, log }: ClassificationSources,
  closers: Closers,
): Classification {
  const counts = new ClassificationCounts();
  const model = new AskModel({
    gateway: engine.gateway,
    callers: installation.callers,
    decisionFormOf: (id) => decisionFormIn(settings, id),
    ids: randomIds,
    clock: systemClock,
    ...(classifierMs !== undefined && { deadlineMs: classifierMs }),
  });
  const batches = {
    model,
    classifications: installation.classificationStore,
    counts,
    clock: systemClock,
    changed: () => installation.changes.publish({ kind: 'classifications' }),
  };
  const worker = new RunWorker({
    ...batches,
    runs: installation.classifierRunStore,
    store: installation.classifierStore,
    generations: installation.generationStore,
    contents,
    ledger: installation.ledger,
    turn: installation.followerNotes,
    random: Math.random,
    log,
  });
  closers.add('runs of classifiers', worker);
  worker.start();
  return {
    model,
    followers: new ClassifierFollowers({ ...batches, store: installation.classifierStore }),
    runs: new ClassifierRuns({
      store: installation.classifierRunStore,
      classifiers: installation.classifiers,
      sources: installation.sources,
      started: () => worker.lookAgain(),
    }),
    counts,
  };
}

/** The form in which endpoints of a model answer decisions themselves; undefined = none does. */
function decisionFormIn(settings: RunningSettings, model: string): DecisionForm | undefined {
  const endpoints = settings.current.gateway.catalog.resolve(model)?.endpoints ?? [];
  return endpoints.find(({ decisions }) => decisions !== undefined)?.decisions;
}
