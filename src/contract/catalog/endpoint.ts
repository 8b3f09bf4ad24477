import Type, { type Static } from 'typebox';
import { nullable } from '../values/nullable.ts';
import { architectureSchema } from './model.ts';
import { pricingSchema } from './pricing.ts';

const percentiles = nullable(
  Type.Object({ p50: Type.Number(), p75: Type.Number(), p90: Type.Number(), p99: Type.Number() }),
);
const uptime = nullable(Type.Number({ minimum: 0, maximum: 100 }), {
  description: 'Percent; null when unknown.',
});

export const endpointSchema = Type.Object(
  {
    name: Type.String(),
    model_id: Type.String(),
    model_name: Type.String(),
    provider_name: Type.String({ description: 'Display name.' }),
    tag: Type.String({ description: 'What routing preferences name: `acme`, `acme/turbo`.' }),
    context_length: nullable(Type.Integer()),
    max_prompt_tokens: nullable(Type.Integer()),
    max_completion_tokens: nullable(Type.Integer()),
    quantization: nullable(Type.String()),
    pricing: pricingSchema,
    supported_parameters: Type.Array(Type.String()),
    supports_implicit_caching: Type.Boolean(),
    supports_tool_choice: Type.Object(
      { auto: Type.Boolean(), function: Type.Boolean(), none: Type.Boolean(), required: Type.Boolean() },
      { description: 'Values of `tool_choice` that it takes: all, or only `auto`, or none without `tools`.' },
    ),
    status: Type.Integer({ description: '0 = in service; negative = degraded or out of service.' }),
    uptime_last_5m: uptime,
    uptime_last_30m: uptime,
    uptime_last_1d: uptime,
    latency_last_30m: percentiles,
    throughput_last_30m: percentiles,
  },
  { description: 'One way to reach a model.' },
);

/** Reply of `GET /models/{author}/{slug}/endpoints`. */
export const endpointListSchema = Type.Object({
  data: Type.Object({
    id: Type.String(),
    name: Type.String(),
    created: Type.Integer({ description: 'Unix seconds.' }),
    description: Type.String(),
    architecture: architectureSchema,
    endpoints: Type.Array(endpointSchema),
  }),
});

export type EndpointListObject = Static<typeof endpointListSchema>['data'];
