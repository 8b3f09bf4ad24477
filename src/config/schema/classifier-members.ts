import Type from 'typebox';
import { closed, nullish } from '../../kit/json/schema.ts';
import { MAX_USD } from '../../kit/money.ts';
import { CLASSIFIER_LIMITS, DIMENSION_NAME } from '../../ports/following/classifiers.ts';
import { readable } from './workspace-texts.ts';

/** The schema of a classifier in the configuration file. Members are named as in the management API. */

const meaning = nullish(Type.String({ maxLength: CLASSIFIER_LIMITS.meaningCharacters }));

const dimension = closed({
  name: Type.String(DIMENSION_NAME),
  description: meaning,
  values: Type.Array(closed({ value: readable(CLASSIFIER_LIMITS.valueCharacters), description: meaning }), {
    minItems: 1,
    maxItems: CLASSIFIER_LIMITS.values,
  }),
});

export const classifier = closed({
  name: readable(CLASSIFIER_LIMITS.nameCharacters),
  description: nullish(Type.String({ maxLength: CLASSIFIER_LIMITS.descriptionCharacters })),
  is_active: nullish(Type.Boolean()),
  model: readable(CLASSIFIER_LIMITS.modelCharacters),
  dimensions: Type.Array(dimension, { minItems: 1, maxItems: CLASSIFIER_LIMITS.dimensions }),
  sampling_rate: nullish(Type.Number({ minimum: 0.0001, maximum: 1 })),
  monthly_budget_usd: nullish(Type.Number({ exclusiveMinimum: 0, maximum: MAX_USD })),
});
