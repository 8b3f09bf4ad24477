import Type from 'typebox';

const metadata = Type.Record(Type.String(), Type.Unknown(), {
  description:
    'What is known about the error: `error_type` always; `issues` (`[{path, message}]`) of an invalid request; ' +
    '`provider_name`, `raw` and `previous_errors` of a provider’s failure.',
});

const code = Type.Integer({ description: 'The HTTP status.' });

const account = Type.Optional(
  Type.Union([Type.String(), Type.Null()], { description: 'The account of the key, once authenticated.' }),
);

/** Body of every error outside the messages routes. */
export const errorEnvelopeSchema = Type.Object(
  {
    error: Type.Object({ code, message: Type.String(), metadata: Type.Optional(metadata) }),
    user_id: account,
  },
  {
    description: 'What every error looks like. Routing metadata is added when the request asked for it.',
    examples: [
      {
        error: {
          code: 401,
          message: 'Missing Authentication header',
          metadata: { error_type: 'authentication' },
        },
      },
    ],
  },
);

/** Body of every error of the messages routes: the error of that format and the envelope in one object. */
export const messagesErrorSchema = Type.Object(
  {
    type: Type.Literal('error'),
    error: Type.Object({
      type: Type.String({ description: 'For example `invalid_request_error`.' }),
      code,
      message: Type.String(),
      error_type: Type.String(),
      metadata: Type.Optional(metadata),
      details: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    }),
    request_id: Type.Union([Type.String(), Type.Null()], { description: 'Null before routing.' }),
    user_id: account,
  },
  { description: 'What every error of the messages routes looks like.' },
);
