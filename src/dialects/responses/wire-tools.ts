import Type, { type TProperties, type TSchema } from 'typebox';
import { nullish, oneOf, open, openOneOf, openUnion, taggedUnion } from '../../kit/json/schema.ts';
import {
  cacheControlSchema,
  MAX_TOOLS,
  SERVER_TOOL_NAMES,
  serverToolType,
  serverToolTypes,
  userLocationSchema,
} from '../shared/requests/gateway-fields.ts';

/** Schemas of `tools` and `tool_choice`. */

const text = Type.String();
const name = Type.String({ minLength: 1 });
const strings = Type.Array(text);
const openObject = Type.Object({});

const functionFields = {
  name,
  parameters: nullish(openObject),
  description: nullish(text),
  strict: nullish(Type.Boolean()),
  cache_control: nullish(cacheControlSchema),
};

const customFields = {
  name,
  description: nullish(text),
  format: nullish(
    openUnion('type', [
      Type.Object({ type: Type.Literal('text') }),
      Type.Object({
        type: Type.Literal('grammar'),
        syntax: openOneOf(['lark', 'regex']),
        definition: text,
      }),
    ]),
  ),
};

const webSearchFields = {
  engine: nullish(Type.String({ minLength: 1, maxLength: 64 })),
  filters: nullish(
    Type.Object({
      allowed_domains: nullish(strings),
      excluded_domains: nullish(strings),
      blocked_domains: nullish(strings),
    }),
  ),
  max_results: nullish(Type.Integer({ minimum: 1 })),
  max_uses: nullish(Type.Integer({ minimum: 1 })),
  mode: nullish(text),
  search_context_size: nullish(openOneOf(['low', 'medium', 'high'])),
  user_location: nullish(userLocationSchema),
};

const CONNECTORS = [
  'connector_dropbox',
  'connector_gmail',
  'connector_googlecalendar',
  'connector_googledrive',
  'connector_microsoftteams',
  'connector_outlookcalendar',
  'connector_outlookemail',
  'connector_sharepoint',
] as const;

const toolNames = nullish(Type.Object({ tool_names: nullish(strings), read_only: nullish(Type.Boolean()) }));

/** Levels of nested filters that are validated; of deeper ones only the type. */
const MAX_FILTER_LEVELS = 4;

const filterValue = Type.Union([
  text,
  Type.Number(),
  Type.Boolean(),
  Type.Array(Type.Union([text, Type.Number()])),
]);

/** A comparison of one attribute, or a combination of filters. */
function filterSchema(depth: number): TSchema {
  const inner = depth > 1 ? filterSchema(depth - 1) : Type.Object({ type: name });
  return openUnion('type', [
    Type.Object({ type: oneOf(['eq', 'ne', 'gt', 'gte', 'lt', 'lte']), key: name, value: filterValue }),
    Type.Object({ type: oneOf(['and', 'or']), filters: Type.Array(inner) }),
  ]);
}

/** Tools that the caller runs. */
const CALLED_TOOLS: Readonly<Record<string, TProperties>> = {
  function: functionFields,
  custom: customFields,
  namespace: {
    name,
    description: text,
    tools: Type.Array(
      taggedUnion('type', [
        Type.Object({ type: Type.Literal('function'), ...functionFields }),
        Type.Object({ type: Type.Literal('custom'), ...customFields }),
      ]),
      { maxItems: MAX_TOOLS },
    ),
  },
};

/** Tools that an upstream or the gateway runs; whoever runs one knows its further members. */
const HOSTED_TOOLS: Readonly<Record<string, TProperties>> = {
  web_search_preview: webSearchFields,
  web_search_preview_2025_03_11: webSearchFields,
  web_search: webSearchFields,
  web_search_2025_08_26: webSearchFields,
  file_search: {
    vector_store_ids: strings,
    filters: nullish(filterSchema(MAX_FILTER_LEVELS)),
    max_num_results: nullish(Type.Integer({ minimum: 1 })),
    ranking_options: nullish(
      Type.Object({
        ranker: nullish(openOneOf(['auto', 'default-2024-11-15'])),
        score_threshold: nullish(Type.Number()),
      }),
    ),
  },
  computer_use_preview: {
    display_height: Type.Integer(),
    display_width: Type.Integer(),
    environment: openOneOf(['windows', 'mac', 'linux', 'ubuntu', 'browser']),
  },
  code_interpreter: {
    container: Type.Union([
      text,
      Type.Object({
        type: openOneOf(['auto']),
        file_ids: nullish(strings),
        memory_limit: nullish(openOneOf(['1g', '4g', '16g', '64g'])),
      }),
    ]),
  },
  mcp: {
    server_label: name,
    server_url: nullish(text),
    connector_id: nullish(openOneOf(CONNECTORS)),
    authorization: nullish(text),
    headers: nullish(openObject),
    allowed_tools: nullish(
      Type.Union([
        strings,
        Type.Object({ tool_names: nullish(strings), read_only: nullish(Type.Boolean()) }),
      ]),
    ),
    require_approval: Type.Optional(
      Type.Union([
        oneOf(['always', 'never'], { type: 'string' }),
        Type.Object({ always: toolNames, never: toolNames }),
        Type.Null(),
      ]),
    ),
    server_description: nullish(text),
  },
  image_generation: {
    background: nullish(openOneOf(['transparent', 'opaque', 'auto'])),
    input_fidelity: nullish(openOneOf(['high', 'low'])),
    input_image_mask: nullish(Type.Object({ file_id: nullish(text), image_url: nullish(text) })),
    model: nullish(text),
    moderation: nullish(openOneOf(['auto', 'low'])),
    output_compression: nullish(Type.Integer({ minimum: 0, maximum: 100 })),
    output_format: nullish(openOneOf(['png', 'webp', 'jpeg', 'gif', 'svg'])),
    partial_images: nullish(Type.Integer({ minimum: 0, maximum: 3 })),
    quality: nullish(openOneOf(['low', 'medium', 'high', 'xhigh', 'max', 'auto'])),
    size: nullish(text),
  },
  local_shell: {},
  shell: {},
  apply_patch: {},
};

const KNOWN_TOOL_TYPES = [...Object.keys(CALLED_TOOLS), ...Object.keys(HOSTED_TOOLS)];

/** Types that upstreams publish, of whose members nothing is checked: those of OpenAI, then those of xAI. */
const UNCHECKED_TOOLS = [
  'computer',
  'programmatic_tool_calling',
  'tool_search',
  'x_search',
  'collections_search',
  'code_execution',
] as const;

/** One tool. An undocumented type is a hosted tool whose members are not validated. */
export function toolSchema(vendor: string) {
  const operatorTool = `^${vendor.replace(/[^\w-]/g, '\\$&')}:`;
  return taggedUnion('type', [
    ...Object.entries(CALLED_TOOLS).map(([type, fields]) =>
      Type.Object({ type: Type.Literal(type), ...fields }),
    ),
    ...Object.entries(HOSTED_TOOLS).map(([type, fields]) => open({ type: Type.Literal(type), ...fields })),
    Type.Object({
      type: Type.String({ pattern: operatorTool, ...serverToolType(vendor, ['apply_patch']) }),
      parameters: nullish(openObject),
      cache_control: nullish(cacheControlSchema),
    }),
    Type.Unsafe<Record<string, unknown>>({
      type: 'object',
      open: true,
      required: ['type'],
      properties: {
        type: {
          anyOf: [
            { enum: [...UNCHECKED_TOOLS] },
            {
              type: 'string',
              minLength: 1,
              not: { anyOf: [{ enum: KNOWN_TOOL_TYPES }, { type: 'string', pattern: operatorTool }] },
              unlisted: true,
            },
          ],
        },
      },
    }),
  ]);
}

/** `tool_choice`: a word, or the allowed tool or tools. */
export function toolChoiceSchema(vendor: string) {
  const chosen = openUnion(
    'type',
    [
      Type.Object({ type: Type.Literal('function'), name }),
      Type.Object({ type: Type.Literal('custom'), name }),
      Type.Object({ type: Type.Literal('mcp'), server_label: name, name: nullish(text) }),
      Type.Object({
        type: Type.Literal('allowed_tools'),
        mode: openOneOf(['auto', 'required']),
        tools: Type.Array(openObject, { maxItems: MAX_TOOLS }),
      }),
    ],
    {
      documented: [
        ...Object.keys(HOSTED_TOOLS),
        ...UNCHECKED_TOOLS,
        'computer_use',
        ...SERVER_TOOL_NAMES.filter((name) => !Object.hasOwn(HOSTED_TOOLS, name)),
        ...serverToolTypes(vendor, ['apply_patch']),
      ],
    },
  );
  const word = openOneOf(['auto', 'none', 'required'], { type: 'string' });
  return Type.Optional(taggedUnion('type', [word, chosen, Type.Null()]));
}
