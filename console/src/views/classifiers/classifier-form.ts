import type { ClassifierObject, CreateClassifier, UpdateClassifier } from '../../api/contract.ts';
import { parseMoney, typedMoney } from '../../format/money-input.ts';
import { linesOf } from '../../parts/form/fields.tsx';
import type { Problems } from '../../parts/form/use-form.ts';

/** A dimension as it is typed. */
export interface DimensionText {
  readonly name: string;
  readonly description: string;
  /** One value a line; what follows `: ` says when it fits. */
  readonly values: string;
}

/** The fields of a classifier, with names of the interface. */
export interface ClassifierValues {
  readonly name: string;
  readonly workspace_id: string;
  readonly description: string;
  readonly model: string;
  readonly dimensions: readonly DimensionText[];
  /** Per cent. */
  readonly sampling_rate: string;
  /** Empty = none. */
  readonly monthly_budget_usd: string;
}

export const NEW_DIMENSION: DimensionText = { name: '', description: '', values: '' };

export const MAX_DIMENSIONS = 8;

export function classifierValues(classifier: ClassifierObject | null, workspaceId: string): ClassifierValues {
  return {
    name: classifier?.name ?? '',
    workspace_id: classifier?.workspace_id ?? workspaceId,
    description: classifier?.description ?? '',
    model: classifier?.model ?? '',
    dimensions: classifier?.dimensions.map(typedDimension) ?? [NEW_DIMENSION],
    sampling_rate: String(Number(((classifier?.sampling_rate ?? 1) * 100).toFixed(4))),
    monthly_budget_usd: typedMoney(classifier?.monthly_budget_usd ?? null),
  };
}

function typedDimension({
  name,
  description,
  values,
}: ClassifierObject['dimensions'][number]): DimensionText {
  return {
    name,
    description: description ?? '',
    values: values
      .map(({ value, description: meaning }) => (meaning === null ? value : `${value}: ${meaning}`))
      .join('\n'),
  };
}

const MIN_PERCENT = 0.01;

export function classifierProblems(values: ClassifierValues): Problems<ClassifierValues> {
  const percent = Number(values.sampling_rate);
  const isPercent = values.sampling_rate.trim() !== '' && percent >= MIN_PERCENT && percent <= 100;
  const hasBudget = values.monthly_budget_usd.trim() !== '';
  const isAmount = (parseMoney(values.monthly_budget_usd) ?? 0) > 0;
  const isUnfinished = values.dimensions.some(
    ({ name, values: text }) => name.trim() === '' || linesOf(text).length === 0,
  );
  return {
    ...(values.name.trim() === '' && { name: 'Give it a name.' }),
    ...(values.model.trim() === '' && { model: 'Say which model answers.' }),
    ...(isUnfinished && { dimensions: 'Each question needs a name and at least one answer.' }),
    ...(!isPercent && { sampling_rate: `A number from ${MIN_PERCENT} to 100.` }),
    ...(hasBudget &&
      !isAmount && { monthly_budget_usd: 'An amount in dollars above 0. Leave it empty for no limit.' }),
  };
}

/** The body of `POST /classifiers`. */
export function createBody(values: ClassifierValues): CreateClassifier {
  return { workspace_id: values.workspace_id, ...members(values) };
}

/** The body of `PATCH /classifiers/{id}`: what differs. */
export function updateBody(values: ClassifierValues, classifier: ClassifierObject): UpdateClassifier {
  const before = members(classifierValues(classifier, classifier.workspace_id));
  return Object.fromEntries(
    Object.entries(members(values)).filter(
      ([name, value]) => JSON.stringify(before[name as keyof typeof before]) !== JSON.stringify(value),
    ),
  );
}

function members(values: ClassifierValues) {
  return {
    name: values.name.trim(),
    description: values.description.trim() === '' ? null : values.description.trim(),
    model: values.model.trim(),
    dimensions: values.dimensions.map(({ name, description, values: text }) => ({
      name: name.trim(),
      ...(description.trim() !== '' && { description: description.trim() }),
      values: linesOf(text).map(answerOf),
    })),
    sampling_rate: Number((Number(values.sampling_rate) / 100).toFixed(6)),
    monthly_budget_usd:
      values.monthly_budget_usd.trim() === '' ? null : (parseMoney(values.monthly_budget_usd) ?? null),
  };
}

function answerOf(line: string): { readonly value: string; readonly description?: string } {
  const at = line.indexOf(': ');
  if (at < 0) return { value: line.trim() };
  return { value: line.slice(0, at).trim(), description: line.slice(at + 2).trim() };
}
