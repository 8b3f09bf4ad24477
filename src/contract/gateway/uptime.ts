import Type, { type Static } from 'typebox';
import { nullable } from '../values/nullable.ts';

const windowSchema = (length: string) =>
  Type.Object(
    {
      percent: nullable(Type.Number({ minimum: 0, maximum: 100 }), {
        description: 'Share of the calls that were answered, rounded down; null = there were no calls.',
      }),
      calls: Type.Integer({ minimum: 0 }),
      failures: Type.Integer({
        minimum: 0,
        description: 'The calls that failed by the fault of the endpoint.',
      }),
    },
    { description: `The last ${length}, in whole hours, the current one included.` },
  );

/** Uptime of an endpoint, or of several together. */
export const uptimeSchema = Type.Object(
  {
    last_1d: windowSchema('24 hours'),
    last_7d: windowSchema('7 days'),
    last_30d: windowSchema('30 days'),
    days: nullable(
      Type.Object({
        calls: Type.Array(Type.Integer({ minimum: 0 }), {
          description: 'For each of the last 30 periods of 24 hours, oldest first; the last one ends now.',
        }),
        failures: Type.Array(Type.Integer({ minimum: 0 }), { description: 'The calls of each that failed.' }),
      }),
      { description: 'Null = there were no calls.' },
    ),
  },
  {
    description:
      'Calls with the credential of the gateway, by all gateways of the installation, also before their last start. ' +
      'Those of other gateways are up to a minute old.',
  },
);

export type UptimeObject = Static<typeof uptimeSchema>;
