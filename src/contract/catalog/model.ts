import Type, { type Static } from 'typebox';
import { nullable } from '../values/nullable.ts';
import { codexModelsSchema } from './codex-model.ts';
import { pricingSchema } from './pricing.ts';

export const architectureSchema = Type.Object({
  modality: Type.String({ examples: ['text+image->text'] }),
  input_modalities: Type.Array(Type.String()),
  output_modalities: Type.Array(Type.String()),
  tokenizer: Type.String(),
  instruct_type: nullable(Type.String()),
});

const effort = Type.String({ examples: ['low'] });

/** Reasoning facts of a model; absent members are unknown. */
const reasoningSchema = Type.Object({
  mandatory: Type.Boolean({ description: 'It cannot be switched off: `effort: none` is refused.' }),
  default_enabled: Type.Optional(Type.Boolean()),
  default_effort: Type.Optional(effort),
  supported_efforts: Type.Optional(
    Type.Array(effort, { description: 'Others are sent as the nearest of these.' }),
  ),
  supports_max_tokens: Type.Optional(Type.Boolean()),
});

export const modelSchema = Type.Object(
  {
    id: Type.String({ description: 'What requests name: `author/slug`.' }),
    object: Type.Literal('model'),
    type: Type.Literal('model'),
    canonical_slug: Type.String(),
    name: Type.String(),
    display_name: Type.String({ description: '`name`, as Anthropic’s clients read it.' }),
    owned_by: Type.String({ description: 'The author in the id.' }),
    description: Type.String(),
    created: Type.Integer({
      description: 'Release, unix seconds; the day of what is known about the model where that is not known.',
    }),
    created_at: Type.String({ format: 'date-time', description: '`created` as a timestamp.' }),
    architecture: architectureSchema,
    context_length: nullable(Type.Integer()),
    max_input_tokens: nullable(Type.Integer(), {
      description: '`context_length`, as Anthropic’s clients read it.',
    }),
    max_tokens: nullable(Type.Integer(), {
      description: 'Most output tokens, as Anthropic’s clients read it.',
    }),
    pricing: pricingSchema,
    top_provider: Type.Object({
      is_moderated: Type.Boolean(),
      context_length: nullable(Type.Integer()),
      max_completion_tokens: nullable(Type.Integer()),
    }),
    per_request_limits: Type.Null(),
    supported_parameters: Type.Array(Type.String()),
    supported_voices: Type.Null(),
    default_parameters: Type.Null(),
    hugging_face_id: nullable(Type.String()),
    knowledge_cutoff: nullable(Type.String(), { description: 'A day, or a month.' }),
    expiration_date: Type.Null(),
    reasoning: Type.Optional(reasoningSchema),
    links: Type.Object({ details: Type.String({ description: 'Path of the model’s endpoints.' }) }),
  },
  { description: 'A model. Prices, and limits in `top_provider`, are those of its first endpoint.' },
);

export type ModelObject = Static<typeof modelSchema>;

export const modelReplySchema = Type.Object({ data: modelSchema });

/** Reply of `GET /models` and `GET /models/user`: with the members by which clients of OpenAI and Anthropic page. */
export const modelListSchema = Type.Object({
  object: Type.Literal('list'),
  data: Type.Array(modelSchema),
  has_more: Type.Boolean({
    description: 'Whether models follow, or precede those of a page with `before_id`.',
  }),
  first_id: nullable(Type.String(), { description: 'Id of the first model here; null if there is none.' }),
  last_id: nullable(Type.String(), { description: 'Id of the last one.' }),
  links: Type.Object({
    next: nullable(Type.String(), { description: 'Path of the next page; null on the last one.' }),
  }),
  total_count: Type.Integer({ description: 'Models that match the filters, on all pages.' }),
  models: Type.Optional(codexModelsSchema),
});

export const modelCountSchema = Type.Object({ data: Type.Object({ count: Type.Integer({ minimum: 0 }) }) });
