import { type Nanos, usdOf } from '../../kit/money.ts';
import type { Classification, Classifier } from '../../ports/following/classifiers.ts';
import type { FollowerNote } from '../../ports/following/follower-notes.ts';
import { isoTime, isoTimeOrNull } from '../values/iso-time.ts';
import { managedBy } from '../values/managed-by.ts';
import type { ClassifierObject } from './classifier.ts';

export interface ShownClassifier {
  readonly classifier: Classifier;
  /** Spent in the current month. */
  readonly spentNanos: Nanos;
  /** Undefined while it follows nothing. */
  readonly note: FollowerNote | undefined;
  /** The newest generation that it has failed at. */
  readonly lastProblem: Classification | undefined;
}

export function classifierObject({
  classifier,
  spentNanos,
  note,
  lastProblem,
}: ShownClassifier): ClassifierObject {
  const { monthlyBudgetNanos, createdAtMs, updatedAtMs } = classifier;
  return {
    id: classifier.id,
    workspace_id: classifier.workspaceId,
    name: classifier.name,
    description: classifier.description,
    is_active: classifier.isActive,
    model: classifier.model,
    dimensions: classifier.dimensions.map(({ name, description, values }) => ({
      name,
      description,
      values: values.map((each) => ({ value: each.value, description: each.description })),
    })),
    sampling_rate: classifier.samplingRate,
    monthly_budget_usd: monthlyBudgetNanos === null ? null : usdOf(monthlyBudgetNanos),
    used_usd: usdOf(spentNanos),
    state: note === undefined ? null : stateObject(note),
    last_problem: lastProblem === undefined ? null : problemObject(lastProblem),
    created_at: isoTime(createdAtMs),
    updated_at: isoTime(updatedAtMs ?? createdAtMs),
    managed_by: managedBy(classifier.fileMember),
  };
}

function stateObject({
  taken,
  dropped,
  waiting,
  problem,
  problemSinceMs,
}: FollowerNote): ClassifierObject['state'] {
  return { taken, dropped, waiting, problem, since: isoTimeOrNull(problemSinceMs) };
}

function problemObject({ generationId, problem, classifiedAtMs }: Classification) {
  return { generation_id: generationId, message: problem ?? '', classified_at: isoTime(classifiedAtMs) };
}
