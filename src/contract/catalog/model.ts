import Type, { type Static } from 'typebox';
import { nullable } from '../values/nullable.ts';
import { pricingSchema } from './pricing.ts';

/** Modalities of a model, input and output. */
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

/** A model as the catalogue routes show it. */
export const modelSchema = Type.Object(
  {
    id: Type.String({ description: 'What requests name: `author/slug`.' }),
    canonical_slug: Type.String(),
    name: Type.String(),
    description: Type.String(),
    created: Type.Integer({
      description: 'Release, unix seconds; the day of what is known about the model where that is not known.',
    }),
    architecture: architectureSchema,
    context_length: nullable(Type.Integer()),
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

/** Reply of `GET /model/{author}/{slug}`. */
export const modelReplySchema = Type.Object({ data: modelSchema });

/** Reply of `GET /models` and `GET /models/user`. */
export const modelListSchema = Type.Object({
  data: Type.Array(modelSchema),
  links: Type.Object({
    next: nullable(Type.String(), { description: 'Path of the next page; null on the last one.' }),
  }),
  total_count: Type.Integer({ description: 'Models that match the filters, on all pages.' }),
});

/** Reply of `GET /models/count`. */
export const modelCountSchema = Type.Object({ data: Type.Object({ count: Type.Integer({ minimum: 0 }) }) });

/** Reply of `GET /models/{id}`: with the members that `models.retrieve` of the OpenAI and Anthropic clients read. */
export const retrievedModelSchema = Type.Object({
  ...modelSchema.properties,
  object: Type.Literal('model'),
  owned_by: Type.String({ description: 'The author in the id.' }),
  type: Type.Literal('model'),
  display_name: Type.String(),
  created_at: Type.String({ format: 'date-time', description: '`created` as a timestamp.' }),
});
