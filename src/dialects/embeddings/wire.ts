import Type, { type TSchema } from 'typebox';
import { nullish, oneOf } from '../../kit/json/schema.ts';
import { routingFieldSchemas, SHARED_GATEWAY_FIELDS } from '../shared/requests/gateway-fields.ts';

/** Inputs of one request, as at OpenAI. */
export const MAX_INPUTS = 2048;

/** More than any model offers. */
const MAX_DIMENSIONS = 65_536;

const tokenIds = Type.Array(Type.Integer({ minimum: 0 }));

/** `parse.ts` checks the number of inputs and says which of them is wrong. */
const input = Type.Unsafe<unknown>({
  description:
    `What becomes vectors: a text, up to ${MAX_INPUTS} texts, the token ids of a text, or of several. None of them ` +
    'may be empty.',
  anyOf: [Type.String(), Type.Array(Type.String()), tokenIds, Type.Array(tokenIds)],
  explain: 'must be a text, a list of texts, a list of token ids, or a list of such lists',
});

const settings = {
  dimensions: nullish(
    Type.Integer({ minimum: 1, maximum: MAX_DIMENSIONS, description: 'Numbers in each vector.' }),
  ),
  encoding_format: nullish(
    oneOf(['float', 'base64'], {
      default: 'float',
      description: '`base64`: little-endian 32-bit floats, about a quarter of the size.',
    }),
  ),
  input_type: nullish(
    Type.String({
      minLength: 1,
      maxLength: 64,
      description:
        'What the vectors are for, where the model tells uses apart: `search_query`, `search_document`.',
    }),
  ),
  ...routingFieldSchemas,
};

export function requestSchema(): TSchema {
  return Type.Object({ model: Type.String({ minLength: 1 }), input, ...settings });
}

export const DOCUMENTED_FIELDS: ReadonlySet<string> = new Set(['model', 'input', ...Object.keys(settings)]);

export const GATEWAY_FIELDS: ReadonlySet<string> = new Set(SHARED_GATEWAY_FIELDS);
