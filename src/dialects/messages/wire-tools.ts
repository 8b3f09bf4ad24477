import Type from 'typebox';
import { nullish, open, openUnion } from '../../kit/json/schema.ts';
import {
  cacheControlSchema,
  SERVER_TOOL_NAMES,
  userLocationSchema,
} from '../shared/requests/gateway-fields.ts';

/** Schemas of the tools in requests, and of the choice among them. */

/** Members of any tool. Those of newer betas are not validated: the upstream knows them. */
const common = {
  cache_control: nullish(cacheControlSchema),
  allowed_callers: Type.Optional(Type.Unknown()),
  defer_loading: Type.Optional(Type.Unknown()),
  eager_input_streaming: Type.Optional(Type.Unknown()),
  input_examples: Type.Optional(Type.Unknown()),
};
const toolName = Type.String({ minLength: 1 });
const domains = nullish(Type.Array(Type.String()));

/** Hosted tools: whoever runs one knows its further members. */
function webSearchTool<const Kind extends string>(kind: Kind) {
  return open({
    type: Type.Literal(kind),
    name: Type.Literal('web_search'),
    allowed_domains: domains,
    blocked_domains: domains,
    max_uses: nullish(Type.Integer({ minimum: 1 })),
    user_location: nullish(userLocationSchema),
    ...common,
    allowed_callers: nullish(Type.Array(Type.String())),
  });
}

function hostedTools(vendor: string) {
  return [
    open({ type: Type.Literal('bash_20250124'), name: Type.Literal('bash'), ...common }),
    open({
      type: Type.Literal('text_editor_20250124'),
      name: Type.Literal('str_replace_editor'),
      ...common,
    }),
    webSearchTool('web_search_20250305'),
    webSearchTool('web_search_20260209'),
    webSearchTool('web_search_20260318'),
    open({
      type: Type.Literal('advisor_20260301'),
      name: Type.Literal('advisor'),
      model: Type.String({ minLength: 1 }),
      max_uses: nullish(Type.Integer({ minimum: 1 })),
      ...common,
    }),
    ...SERVER_TOOL_NAMES.map((name) =>
      open({
        type: Type.Literal(`${vendor}:${name}`),
        parameters: nullish(Type.Object({})),
        ...common,
      }),
    ),
  ];
}

const functionTool = Type.Object({
  type: Type.Optional(Type.Union([Type.Literal('custom'), Type.Null()])),
  name: toolName,
  description: nullish(Type.String()),
  input_schema: open({
    type: Type.Literal('object'),
    properties: nullish(Type.Object({})),
    required: nullish(Type.Array(Type.String())),
  }),
  strict: nullish(Type.Boolean()),
  ...common,
});

/** Documented tools whose members are not validated: the upstream or the caller runs them. */
const UNCHECKED_TOOLS = [
  'bash_20241022',
  'text_editor_20241022',
  'text_editor_20250429',
  'text_editor_20250728',
  'computer_20241022',
  'computer_20250124',
  'computer_20251124',
  'computer_toolset_20260801',
  'browser_toolset_20260801',
  'code_execution_20250522',
  'code_execution_20250825',
  'code_execution_20260120',
  'code_execution_20260521',
  'memory_20250818',
  'tool_search_tool_bm25_20251119',
  'tool_search_tool_regex_20251119',
  'web_fetch_20250910',
  'web_fetch_20260209',
  'web_fetch_20260309',
  'web_fetch_20260318',
  'mcp_toolset',
] as const;

/** One tool. An undocumented type is a hosted tool whose fields are not validated. */
export function toolSchema(vendor: string) {
  return openUnion('type', [functionTool, ...hostedTools(vendor)], { documented: UNCHECKED_TOOLS });
}

const parallel = { disable_parallel_tool_use: nullish(Type.Boolean()) };

export const toolChoiceSchema = openUnion('type', [
  Type.Object({ type: Type.Literal('auto'), ...parallel }),
  Type.Object({ type: Type.Literal('any'), ...parallel }),
  Type.Object({ type: Type.Literal('tool'), name: toolName, ...parallel }),
  Type.Object({ type: Type.Literal('none') }),
]);
