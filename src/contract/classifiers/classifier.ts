import Type, { type Static } from 'typebox';
import { closed, nullish } from '../../kit/json/schema.ts';
import { MAX_USD } from '../../kit/money.ts';
import { CLASSIFIER_LIMITS, DIMENSION_NAME } from '../../ports/following/classifiers.ts';
import { pageQuery } from '../guardrails/guardrail.ts';
import { allWorkspaces } from '../values/all-workspaces.ts';
import { managedBySchema } from '../values/managed-by.ts';
import { nullable } from '../values/nullable.ts';
import { readableText, storableText } from '../values/readable-text.ts';
import { uuid } from '../values/uuid.ts';

const name = readableText(CLASSIFIER_LIMITS.nameCharacters);

const description = storableText(CLASSIFIER_LIMITS.descriptionCharacters, {
  description: 'What the classifier is for. Its model reads it.',
});

const meaning = (what: string) =>
  nullish(storableText(CLASSIFIER_LIMITS.meaningCharacters, { description: what }));

const value = closed({
  value: readableText(CLASSIFIER_LIMITS.valueCharacters, { description: 'The tag that a generation gets.' }),
  description: meaning('When it fits. The model reads it.'),
});

const dimension = closed({
  name: Type.String({
    ...DIMENSION_NAME,
    description: 'Names a column of analytics.',
  }),
  description: meaning('What is asked. The model reads it.'),
  values: Type.Array(value, {
    minItems: 1,
    maxItems: CLASSIFIER_LIMITS.values,
    description: 'All tags that there are.',
  }),
});

const dimensions = Type.Array(dimension, {
  minItems: 1,
  maxItems: CLASSIFIER_LIMITS.dimensions,
  description: 'What is asked of each generation, with a closed set of answers. Each answer is a tag.',
});

const model = readableText(CLASSIFIER_LIMITS.modelCharacters, {
  description: 'The model that answers: one for decisions, or one that takes texts.',
});

/** Settings besides name, dimensions and model. */
const optional = {
  description: Type.Optional(nullable(description)),
  is_active: Type.Optional(
    Type.Boolean({
      description:
        'True without it. At most one classifier of a workspace is active; it reads prompts and answers.',
    }),
  ),
  sampling_rate: Type.Optional(
    Type.Number({
      minimum: 0.0001,
      maximum: 1,
      description: 'Share of the sessions whose generations are classified; 1 without it.',
    }),
  ),
  monthly_budget_usd: Type.Optional(
    nullable(Type.Number({ exclusiveMinimum: 0, maximum: MAX_USD }), {
      description: 'The most that it may spend in a calendar month (UTC); null = no limit of its own.',
    }),
  ),
};

export const createClassifierSchema = closed({
  name,
  model,
  dimensions,
  ...optional,
  workspace_id: Type.Optional({
    ...uuid,
    description: 'Whose generations are classified; those of the default workspace without it.',
  }),
});

export type CreateClassifier = Static<typeof createClassifierSchema>;

/** Body of `PATCH /classifiers/{id}`: absent members stay unchanged. */
export const updateClassifierSchema = closed({
  name: Type.Optional(name),
  model: Type.Optional(model),
  dimensions: Type.Optional(dimensions),
  ...optional,
});

export type UpdateClassifier = Static<typeof updateClassifierSchema>;

export const classifiersQuerySchema = Type.Object({
  ...pageQuery,
  workspace_id: Type.Optional(uuid),
  all_workspaces: nullish(allWorkspaces),
});

export type ClassifiersQuery = Static<typeof classifiersQuerySchema>;

const moment = Type.String({ format: 'date-time' });

export const classifierSchema = Type.Object(
  {
    id: Type.String({ format: 'uuid' }),
    workspace_id: Type.String({ format: 'uuid' }),
    name: Type.String(),
    description: nullable(Type.String()),
    is_active: Type.Boolean(),
    model: Type.String(),
    dimensions: Type.Array(
      Type.Object({
        name: Type.String(),
        description: nullable(Type.String()),
        values: Type.Array(Type.Object({ value: Type.String(), description: nullable(Type.String()) })),
      }),
    ),
    sampling_rate: Type.Number(),
    monthly_budget_usd: nullable(Type.Number()),
    used_usd: Type.Number({
      description:
        'Spent in the current month, at list price if BYOK credentials served; without calls in flight.',
    }),
    state: nullable(
      Type.Object({
        taken: Type.Integer({
          description: 'Generations that it has looked at, or that are not in its sample.',
        }),
        dropped: Type.Integer({ description: 'Generations that waited for too long.' }),
        waiting: Type.Integer({ description: 'Generations that wait for it, by a count a few seconds old.' }),
        problem: nullable(Type.String(), { description: 'Why it does not go on; null = it does.' }),
        since: nullable(moment, { description: 'Since when; null = unknown.' }),
      }),
      { description: 'How it goes; null for a classifier that is not active, or was made a moment ago.' },
    ),
    last_problem: nullable(
      Type.Object({
        generation_id: Type.String(),
        message: Type.String(),
        classified_at: moment,
      }),
      { description: 'The newest generation that lacks tags because something went wrong; null = none.' },
    ),
    created_at: moment,
    updated_at: Type.String({ format: 'date-time', description: 'Its creation until it is changed.' }),
    managed_by: managedBySchema,
  },
  { description: 'Tags generations of a workspace once they are over.' },
);

export type ClassifierObject = Static<typeof classifierSchema>;

export const classifierReplySchema = Type.Object({ data: classifierSchema });

export const classifierListSchema = Type.Object({
  data: Type.Array(classifierSchema),
  total_count: Type.Integer({ description: 'All that match, on every page.' }),
});
