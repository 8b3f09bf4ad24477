import Type, { type Static } from 'typebox';
import { REQUEST_FORMATS } from '../../dialects/dialects.ts';
import { TRANSLATION_ACTIONS } from '../../ir/metadata.ts';
import { nullish, oneOf } from '../../kit/json/schema.ts';
import { nullable } from '../values/nullable.ts';

const translation = Type.Array(
  Type.Object({
    field: Type.String(),
    action: oneOf(TRANSLATION_ACTIONS),
    detail: Type.String(),
  }),
  { description: 'What would be lost or changed on the way, and what would be passed on unknown.' },
);

const candidate = Type.Object({
  rank: Type.Integer({ minimum: 1, description: 'Its place in the order of attempts.' }),
  provider: Type.String({ description: 'Display name.' }),
  tag: Type.String({ description: 'What routing preferences name: `acme`, `acme/turbo`.' }),
  model: Type.String(),
  credential: Type.String({ description: '`shared`, or `byok:` and the id of a credential of the account.' }),
  lane: oneOf(['relay', 'translate'], {
    description: '`relay`: the body goes on in its own format. `translate`: into the format of the provider.',
  }),
  price: Type.Object(
    { prompt: Type.String(), completion: Type.String() },
    { description: 'USD a token, decimal strings.' },
  ),
  weight: nullable(Type.Number({ minimum: 0, maximum: 1 }), {
    description: 'Share of the draw for the first place; null where nothing is drawn.',
  }),
  sticky: Type.Boolean({ description: 'First because the conversation was there before.' }),
  health: Type.Object({
    state: oneOf(['ok', 'cooling', 'probing']),
    scope: Type.Optional(
      oneOf(['everyone', 'account'], {
        description:
          'Present unless the state is `ok`. `account`: only requests of this account failed, and the endpoint is in ' +
          'this state for them alone.',
      }),
    ),
    failures: Type.Integer({ minimum: 0, description: 'In a row.' }),
    retry_after_seconds: Type.Optional(
      Type.Integer({ description: 'Present while the provider asked to be left alone.' }),
    ),
    latency_p50_ms: nullable(Type.Number(), { description: 'To the first token, over 5 minutes.' }),
    throughput_p50: nullable(Type.Number(), { description: 'Tokens a second, over 5 minutes.' }),
  }),
  translation: nullable(translation, { description: 'Null far behind what a request tries.' }),
});

/** Body of `POST /routing/explain`: any generation body, and the format it is written in. */
export const explainRequestSchema = Type.Object(
  {
    format: nullish(
      oneOf(
        REQUEST_FORMATS.map(({ name }) => name),
        {
          default: 'responses',
          description:
            'The format of the rest of the body, which is a whole request: to `/responses` (also if `format` is absent), ' +
            '`/messages`, `/chat/completions` (`chat`) or `/embeddings`.',
        },
      ),
    ),
  },
  {
    additionalProperties: true,
    description:
      'A generation request, as its own route would take it, and `format`. There is no envelope around it.',
  },
);

export const explanationSchema = Type.Object({
  data: Type.Object({
    requested: Type.String({ description: 'The model as it was asked for.' }),
    strategy: Type.String({ description: 'How the model was chosen: `direct`, `fallback`, `auto`, ...' }),
    candidates: Type.Array(candidate, { description: 'In the order in which they would be tried.' }),
    rejected: Type.Array(
      Type.Object({
        provider: Type.String(),
        tag: Type.String(),
        model: Type.String(),
        filter: Type.String({ description: 'The rule that ruled it out.' }),
        reason: Type.String(),
      }),
    ),
    estimate: Type.Object({
      prompt_tokens: Type.Integer({ minimum: 0 }),
      max_output_tokens: nullable(Type.Integer({ minimum: 0 }), { description: 'Null: nothing bounds it.' }),
      max_cost_usd: nullable(Type.Number({ minimum: 0 }), { description: 'Of the first candidate.' }),
    }),
    params: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    pipeline: Type.Optional(Type.Array(Type.Record(Type.String(), Type.Unknown()))),
    translation: Type.Optional(translation),
    error: Type.Optional(
      Type.Object(
        { code: Type.Integer(), message: Type.String() },
        { description: 'The error that the request would get if no candidate is left.' },
      ),
    ),
  }),
});

export type Explanation = Static<typeof explanationSchema>['data'];
