import Type, { type TSchema } from 'typebox';
import { nullish } from '../../kit/json/schema.ts';
import { routingFieldSchemas, SHARED_GATEWAY_FIELDS } from '../shared/requests/gateway-fields.ts';

/** Limits of OpenAI. */
export const MAX_QUESTIONS = 400;
export const MAX_OPTIONS = 255;
export const MIN_OPTIONS = 2;

/** `parse.ts` checks what is in questions, and says which of them is wrong. */
const anything = Type.Optional(Type.Unknown());
const question = Type.Object({
  type: Type.String(),
  name: anything,
  instructions: anything,
  choices: anything,
  levels: anything,
  criteria: anything,
});

const settings = {
  state: nullish(
    Type.Unsafe<unknown>({
      description: 'System One: what the questions are about, a text or a JSON object or list.',
      anyOf: [{ type: 'string' }, { type: 'object' }, { type: 'array' }],
      explain: 'must be a text, an object or a list',
    }),
  ),
  input: nullish(
    Type.Unsafe<unknown>({
      description: 'OpenAI: what the questions are about, a text or a list of messages and calls of tools.',
      anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'object' } }],
      explain: 'must be a text or a list of objects',
    }),
  ),
  questions: Type.Unsafe<unknown>({
    description:
      'System One: questions by name, of type `noul`, `choice` or `score`, with `instructions` and `criteria`. ' +
      'OpenAI: a list of questions of type `predicate`, `choice` (with `choices`) or `score` (with `levels`).',
    anyOf: [Type.Record(Type.String(), question), Type.Array(question)],
    explain: 'must be questions by name, or a list of questions, each an object with a `type`',
  }),
  max_output_tokens: nullish(
    Type.Integer({
      minimum: 1,
      description:
        'The most that a model writes, thoughts included. Models made for decisions write nothing.',
    }),
  ),
  prompt_cache_key: nullish(Type.String()),
  safety_identifier: nullish(Type.String({ maxLength: 256 })),
  ...routingFieldSchemas,
};

/** Schema of the request body, in both forms. */
export function requestSchema(): TSchema {
  return Type.Object({ model: Type.String({ minLength: 1 }), ...settings });
}

export const DOCUMENTED_FIELDS: ReadonlySet<string> = new Set(['model', ...Object.keys(settings)]);

export const GATEWAY_FIELDS: ReadonlySet<string> = new Set([...SHARED_GATEWAY_FIELDS, 'max_output_tokens']);
