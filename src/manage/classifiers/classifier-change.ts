import type { UpdateClassifier } from '../../contract/classifiers/classifier.ts';
import type { Issue } from '../../kit/json/validate.ts';
import { nanosOf } from '../../kit/money.ts';
import {
  type ClassifierDimension,
  type ClassifierSettings,
  NOTHING_FITS,
} from '../../ports/following/classifiers.ts';
import { ANALYTICS_DIMENSIONS, metricsByWireName } from '../analytics/analytics-names.ts';

export const CLASSIFIER_DEFAULTS = {
  description: null,
  isActive: true,
  samplingRate: 1,
  monthlyBudgetNanos: null,
} as const satisfies Partial<ClassifierSettings>;

export interface ClassifierChecks {
  /** Configured vendor name; part of some names of metrics. Undefined = unknown. */
  readonly vendor: string | undefined;
  isModel(name: string): boolean;
}

/** Settings as they are given, by the API or in the file. */
export type WantedClassifier = UpdateClassifier;

export function classifierChangeOf(wanted: WantedClassifier): Partial<ClassifierSettings> {
  const { name, description, is_active: isActive, model, dimensions } = wanted;
  const { sampling_rate: samplingRate, monthly_budget_usd: budget } = wanted;
  return {
    ...(name !== undefined && { name }),
    ...(description !== undefined && { description }),
    ...(isActive !== undefined && { isActive }),
    ...(model !== undefined && { model }),
    ...(dimensions !== undefined && { dimensions: dimensions.map(dimensionOf) }),
    ...(samplingRate !== undefined && { samplingRate }),
    ...(budget !== undefined && { monthlyBudgetNanos: budget === null ? null : nanosOf(budget) }),
  };
}

function dimensionOf({
  name,
  description = null,
  values,
}: NonNullable<WantedClassifier['dimensions']>[number]): ClassifierDimension {
  return {
    name,
    description,
    values: values.map(({ value, description: meaning = null }) => ({ value, description: meaning })),
  };
}

/** Problems of a classifier that its schema does not find. */
export function classifierIssues(wanted: WantedClassifier, checks: ClassifierChecks): Issue[] {
  const { dimensions = [], model, monthly_budget_usd: budget } = wanted;
  return [
    ...(model === undefined || checks.isModel(model)
      ? []
      : [{ path: 'model', message: 'is not a model of this gateway' }]),
    ...repeated(
      dimensions.map(({ name }) => name),
      (index) => `dimensions[${index}].name`,
    ),
    ...dimensions.flatMap(({ name, values }, index) => [
      ...(isColumn(name, checks.vendor)
        ? [
            {
              path: `dimensions[${index}].name`,
              message: 'is the name of a column of analytics: choose another',
            },
          ]
        : []),
      ...repeated(
        values.map(({ value }) => value),
        (place) => `dimensions[${index}].values[${place}].value`,
      ),
      ...values.flatMap(({ value }, place) =>
        value === NOTHING_FITS
          ? [
              {
                path: `dimensions[${index}].values[${place}].value`,
                message: 'is what models answer if no value fits: choose another',
              },
            ]
          : [],
      ),
    ]),
    ...(typeof budget === 'number' && nanosOf(budget) === 0n
      ? [{ path: 'monthly_budget_usd', message: 'must be a nano-dollar or more' }]
      : []),
  ];
}

function repeated(texts: readonly string[], pathOf: (index: number) => string): Issue[] {
  return texts.flatMap((text, index) => {
    const first = texts.indexOf(text);
    return first === index ? [] : [{ path: pathOf(index), message: `is already used at ${pathOf(first)}` }];
  });
}

/** Names that rows of analytics have already, and those that the language gives a meaning. */
function isColumn(name: string, vendor: string | undefined): boolean {
  return (
    name in ANALYTICS_DIMENSIONS || metricsByWireName(vendor ?? '').has(name) || OTHER_COLUMNS.test(name)
  );
}

const OTHER_COLUMNS = /^(?:date|date__.*|user_email|clf_.*|__.*)$/;
