import Type, { type Static, type TSchema } from 'typebox';
import { oneOf } from '../../kit/json/schema.ts';

function list(description: string) {
  return Type.Optional(Type.Array(Type.String({ minLength: 1 }), { maxItems: 100, description }));
}

function amount(description: string) {
  return Type.Optional(Type.Number({ minimum: 0, description }));
}

const PROMPT_PRICE = 'Prompt price, USD per million tokens.';
const COMPLETION_PRICE = 'Completion price, USD per million tokens.';

/** Orders of `GET /models`; the default is by id. */
export const MODEL_SORTS = [
  'newest',
  'pricing-low-to-high',
  'pricing-high-to-low',
  'context-high-to-low',
] as const;

export type ModelSort = (typeof MODEL_SORTS)[number];

const outputModalities = list('Models that make any of these, or `all`. Without it: `text`.');

/** A filter for which this gateway has no data: refused, because a list that ignores it would be wrong. */
function unavailable(what: string) {
  return Type.Optional(
    Type.Unsafe<undefined>({
      not: {},
      explain: `is not available: this gateway has no data on ${what}`,
      description: `Refused with 400: this gateway has no data on ${what}.`,
    } satisfies TSchema),
  );
}

/** Query of `GET /models` and `GET /models/user`. Lists are separated by commas. */
export const modelsQuerySchema = Type.Object({
  offset: Type.Optional(Type.Integer({ minimum: 0, description: 'Models to skip.' })),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 1000,
      description: 'Page size; 500 when only a place in the list is given. With neither, the whole list.',
    }),
  ),
  after_id: Type.Optional(
    Type.String({ minLength: 1, description: 'Id of a model of the list: the page begins after it.' }),
  ),
  before_id: Type.Optional(
    Type.String({ minLength: 1, description: 'Id of a model of the list: the page ends before it.' }),
  ),
  client_version: Type.Optional(
    Type.String({ description: 'Codex sends its version: the reply then has `models` as well.' }),
  ),
  q: Type.Optional(
    Type.String({ maxLength: 256, description: 'Text to look for in id, name and description.' }),
  ),
  supported_parameters: list('Models that take all of these parameters.'),
  input_modalities: list('Models that take all of these.'),
  output_modalities: outputModalities,
  context: Type.Optional(Type.Integer({ minimum: 0, description: 'Least context length, tokens.' })),
  min_price: amount(PROMPT_PRICE),
  max_price: amount(PROMPT_PRICE),
  min_output_price: amount(COMPLETION_PRICE),
  max_output_price: amount(COMPLETION_PRICE),
  model_authors: list('The part of the id before the slash; any of these.'),
  providers: list('Models served by any of these (slug or display name).'),
  distillable: Type.Optional(
    Type.Boolean({ description: 'Whether the author allows training on the output.' }),
  ),
  zdr: Type.Optional(
    Type.Boolean({ description: 'Whether an endpoint neither keeps prompts nor trains on them.' }),
  ),
  min_age_days: amount('Days since the model was created, at least.'),
  max_age_days: amount('Days since the model was created, at most.'),
  sort: Type.Optional(oneOf(MODEL_SORTS, { description: 'Without it: by id.' })),
  category: unavailable('categories'),
  arch: unavailable('architectures'),
  region: unavailable('regions'),
  use_rss: unavailable('feeds'),
  use_rss_chat_links: unavailable('feeds'),
});

export type ModelsQuery = Static<typeof modelsQuerySchema>;

export const modelCountQuerySchema = Type.Object({ output_modalities: outputModalities });
