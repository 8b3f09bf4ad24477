import Type from 'typebox';
import { nullish, otherThan, taggedUnion } from '../../kit/json/schema.ts';
import {
  cacheControlSchema,
  SERVER_TOOL_NAMES,
  userLocationSchema,
} from '../shared/requests/gateway-fields.ts';

/** Schemas of the tools in requests, and of the choice among them. */

const cached = { cache_control: nullish(cacheControlSchema) };
const toolName = Type.String({ minLength: 1 });
const domains = nullish(Type.Array(Type.String()));

function webSearchTool<const Kind extends string>(kind: Kind) {
  return Type.Object({
    type: Type.Literal(kind),
    name: Type.Literal('web_search'),
    allowed_domains: domains,
    blocked_domains: domains,
    max_uses: nullish(Type.Integer({ minimum: 1 })),
    user_location: nullish(userLocationSchema),
    allowed_callers: nullish(Type.Array(Type.String())),
    ...cached,
  });
}

function hostedTools(vendor: string) {
  return [
    Type.Object({ type: Type.Literal('bash_20250124'), name: Type.Literal('bash'), ...cached }),
    Type.Object({
      type: Type.Literal('text_editor_20250124'),
      name: Type.Literal('str_replace_editor'),
      ...cached,
    }),
    webSearchTool('web_search_20250305'),
    webSearchTool('web_search_20260209'),
    Type.Object({
      type: Type.Literal('advisor_20260301'),
      name: Type.Literal('advisor'),
      model: Type.String({ minLength: 1 }),
      max_uses: nullish(Type.Integer({ minimum: 1 })),
      ...cached,
    }),
    ...SERVER_TOOL_NAMES.map((name) =>
      Type.Object({
        type: Type.Literal(`${vendor}:${name}`),
        parameters: nullish(Type.Object({})),
        ...cached,
      }),
    ),
  ];
}

const functionTool = Type.Object({
  type: Type.Optional(Type.Union([Type.Literal('custom'), Type.Null()])),
  name: toolName,
  description: nullish(Type.String()),
  input_schema: Type.Object({
    type: Type.Literal('object'),
    properties: nullish(Type.Object({})),
    required: nullish(Type.Array(Type.String())),
  }),
  strict: nullish(Type.Boolean()),
  ...cached,
});

/** One tool. An undocumented type is a hosted tool whose fields are not validated. */
export function toolSchema(vendor: string) {
  const hosted = hostedTools(vendor);
  const known = ['custom', ...hosted.map((tool) => tool.properties.type.const)];
  return taggedUnion('type', [functionTool, ...hosted, otherThan('type', known)]);
}

const parallel = { disable_parallel_tool_use: nullish(Type.Boolean()) };

export const toolChoiceSchema = taggedUnion('type', [
  Type.Object({ type: Type.Literal('auto'), ...parallel }),
  Type.Object({ type: Type.Literal('any'), ...parallel }),
  Type.Object({ type: Type.Literal('tool'), name: toolName, ...parallel }),
  Type.Object({ type: Type.Literal('none') }),
]);
