import type { DecisionForm } from '../ir/decision.ts';
import type { JsonObject } from '../kit/json/json.ts';
import { type Classifier, type ClassifierDimension, NOTHING_FITS } from '../ports/following/classifiers.ts';

export type AskedClassifier = Pick<Classifier, 'name' | 'description' | 'dimensions' | 'model'>;

const NOTHING_FITS_MEANING = 'None of the other values fits.';

/** The body of a request for decisions about a transcript: a question for each dimension, in their order. */
export function decisionBody(
  classifier: AskedClassifier,
  transcript: string,
  form: DecisionForm,
): JsonObject {
  const { model, dimensions } = classifier;
  const asked = dimensions.map((dimension) => ({
    dimension,
    instructions: instructionsOf(classifier, dimension),
  }));
  if (form === 'openai') {
    return {
      model,
      input: transcript,
      questions: asked.map(({ dimension, instructions }) => ({
        type: 'choice',
        name: dimension.name,
        instructions,
        choices: optionsOf(dimension).map(([value, description]) => ({ value, description })),
      })),
    };
  }
  return {
    model,
    state: transcript,
    questions: Object.fromEntries(
      asked.map(({ dimension, instructions }) => [
        dimension.name,
        { type: 'choice', instructions, criteria: Object.fromEntries(optionsOf(dimension)) },
      ]),
    ),
  };
}

function instructionsOf(
  { name, description }: AskedClassifier,
  { name: dimension, description: meaning }: ClassifierDimension,
): string {
  const about = description === null ? name : `${name}: ${description}`;
  return [
    'The content is the transcript of a conversation with a model. Choose the value that fits the conversation best.',
    `Purpose: ${about}`,
    `Dimension: ${dimension}${meaning === null ? '' : `: ${meaning}`}`,
  ].join('\n');
}

/** The values of a dimension with their meanings, and one for none of them. */
function optionsOf({ values }: ClassifierDimension): (readonly [value: string, meaning: string | null])[] {
  return [
    ...values.map((each) => [each.value, each.description] as const),
    [NOTHING_FITS, NOTHING_FITS_MEANING],
  ];
}
