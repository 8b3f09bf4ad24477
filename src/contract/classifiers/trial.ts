import Type, { type Static } from 'typebox';
import { closed } from '../../kit/json/schema.ts';
import { nullable } from '../values/nullable.ts';
import { storableText } from '../values/readable-text.ts';

const MAX_TEXT_CHARACTERS = 100_000;
const MAX_ID_CHARACTERS = 128;

export const testClassifierSchema = closed({
  text: Type.Optional(
    storableText(MAX_TEXT_CHARACTERS, { minLength: 1, description: 'What a user might say.' }),
  ),
  generation_id: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: MAX_ID_CHARACTERS,
      description:
        'A generation of the workspace whose prompt and answer are kept. Not together with `text`.',
    }),
  ),
});

export type TestClassifier = Static<typeof testClassifierSchema>;

export const classifierTrialSchema = Type.Object({
  data: Type.Object({
    tags: Type.Record(Type.String(), Type.String(), {
      description: 'Values by dimension; a dimension of which none fits has no member. They are not kept.',
    }),
    problem: nullable(Type.String(), { description: 'Why tags are missing; null = nothing went wrong.' }),
    generation_id: nullable(Type.String(), {
      description: 'The generation that asked the model; null if none did.',
    }),
    cost: Type.Number({ description: 'What it cost, USD.' }),
    transcript: Type.String({ description: 'What the model has read.' }),
  }),
});

export type ClassifierTrialObject = Static<typeof classifierTrialSchema>['data'];
