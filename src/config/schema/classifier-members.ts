import Type from 'typebox';
import { closed, described, nullish } from '../../kit/json/schema.ts';
import { MAX_USD } from '../../kit/money.ts';
import { CLASSIFIER_LIMITS, DIMENSION_NAME } from '../../ports/following/classifiers.ts';
import { readable } from './workspace-texts.ts';

/** The schema of a classifier in the configuration file. Members are named as in the management API. */

const meaning = nullish(Type.String({ maxLength: CLASSIFIER_LIMITS.meaningCharacters }));

const dimension = closed({
  name: described('Names a column of analytics.', Type.String(DIMENSION_NAME)),
  description: described('What is asked. The model reads it.', meaning),
  values: described(
    'All tags that there are.',
    Type.Array(
      closed({
        value: described('The tag that a generation gets.', readable(CLASSIFIER_LIMITS.valueCharacters)),
        description: described('When it fits. The model reads it.', meaning),
      }),
      {
        minItems: 1,
        maxItems: CLASSIFIER_LIMITS.values,
      },
    ),
  ),
});

export const classifier = closed({
  name: described(
    'Name of the classifier. Tells those of a workspace apart.',
    readable(CLASSIFIER_LIMITS.nameCharacters),
  ),
  description: described(
    'What it is for. Its model reads it.',
    nullish(Type.String({ maxLength: CLASSIFIER_LIMITS.descriptionCharacters })),
  ),
  is_active: described('Whether it classifies; absent: yes.', nullish(Type.Boolean())),
  model: described('The model that is asked.', readable(CLASSIFIER_LIMITS.modelCharacters)),
  dimensions: described(
    'What is asked of each generation.',
    Type.Array(dimension, { minItems: 1, maxItems: CLASSIFIER_LIMITS.dimensions }),
  ),
  sampling_rate: described(
    'Share of the sessions whose generations are classified; absent: 1.',
    nullish(Type.Number({ minimum: 0.0001, maximum: 1 })),
  ),
  monthly_budget_usd: described(
    'The most that it may spend in a calendar month (UTC), USD; absent: no limit of its own.',
    nullish(Type.Number({ exclusiveMinimum: 0, maximum: MAX_USD })),
  ),
});
