import Type, { type TProperties, type TSchema } from 'typebox';
import { oneOf, optional, taggedUnion } from '../../kit/json/schema.ts';
import { cacheControlSchema, MOST_TOOLS, userLocationSchema } from '../shared/requests/gateway-fields.ts';

/** Schemas of `tools` and `tool_choice`. */

const text = Type.String();
const name = Type.String({ minLength: 1 });
const strings = Type.Array(text);
const openObject = Type.Object({});

const functionFields = {
  name,
  parameters: optional(openObject),
  description: optional(text),
  strict: optional(Type.Boolean()),
  cache_control: optional(cacheControlSchema),
};

const customFields = {
  name,
  description: optional(text),
  format: optional(
    taggedUnion('type', [
      Type.Object({ type: Type.Literal('text') }),
      Type.Object({
        type: Type.Literal('grammar'),
        syntax: oneOf(['lark', 'regex']),
        definition: text,
      }),
    ]),
  ),
};

const webSearchFields = {
  engine: optional(Type.String({ minLength: 1, maxLength: 64 })),
  filters: optional(
    Type.Object({
      allowed_domains: optional(strings),
      excluded_domains: optional(strings),
      blocked_domains: optional(strings),
    }),
  ),
  max_results: optional(Type.Integer({ minimum: 1 })),
  max_uses: optional(Type.Integer({ minimum: 1 })),
  mode: optional(text),
  search_context_size: optional(oneOf(['low', 'medium', 'high'])),
  user_location: optional(userLocationSchema),
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

const toolNames = optional(Type.Object({ tool_names: optional(strings) }));

/** Filters inside filters are looked at down to here; deeper ones are not written by hand. */
const MAX_FILTER_DEPTH = 4;

const filterValue = Type.Union([
  text,
  Type.Number(),
  Type.Boolean(),
  Type.Array(Type.Union([text, Type.Number()])),
]);

/** A comparison of one attribute, or several filters joined. */
function filterSchema(depth: number): TSchema {
  const inner = depth > 1 ? filterSchema(depth - 1) : Type.Object({ type: name });
  return taggedUnion('type', [
    Type.Object({ type: oneOf(['eq', 'ne', 'gt', 'gte', 'lt', 'lte']), key: name, value: filterValue }),
    Type.Object({ type: oneOf(['and', 'or']), filters: Type.Array(inner) }),
  ]);
}

const TOOL_FIELDS: Readonly<Record<string, TProperties>> = {
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
      { maxItems: MOST_TOOLS },
    ),
  },
  web_search_preview: webSearchFields,
  web_search_preview_2025_03_11: webSearchFields,
  web_search: webSearchFields,
  web_search_2025_08_26: webSearchFields,
  file_search: {
    vector_store_ids: strings,
    filters: optional(filterSchema(MAX_FILTER_DEPTH)),
    max_num_results: optional(Type.Integer({ minimum: 1 })),
    ranking_options: optional(
      Type.Object({
        ranker: optional(oneOf(['auto', 'default-2024-11-15'])),
        score_threshold: optional(Type.Number()),
      }),
    ),
  },
  computer_use_preview: {
    display_height: Type.Integer(),
    display_width: Type.Integer(),
    environment: oneOf(['windows', 'mac', 'linux', 'ubuntu', 'browser']),
  },
  code_interpreter: {
    container: Type.Union([
      text,
      Type.Object({
        type: Type.Literal('auto'),
        file_ids: optional(strings),
        memory_limit: optional(oneOf(['1g', '4g', '16g', '64g'])),
      }),
    ]),
  },
  mcp: {
    server_label: name,
    server_url: optional(text),
    connector_id: optional(oneOf(CONNECTORS)),
    authorization: optional(text),
    headers: optional(openObject),
    allowed_tools: optional(
      Type.Union([
        strings,
        Type.Object({ tool_names: optional(strings), read_only: optional(Type.Boolean()) }),
      ]),
    ),
    require_approval: Type.Optional(
      Type.Union([
        oneOf(['always', 'never'], { type: 'string' }),
        Type.Object({ always: toolNames, never: toolNames }),
        Type.Null(),
      ]),
    ),
    server_description: optional(text),
  },
  image_generation: {
    background: optional(oneOf(['transparent', 'opaque', 'auto'])),
    input_fidelity: optional(oneOf(['high', 'low'])),
    input_image_mask: optional(Type.Object({ file_id: optional(text), image_url: optional(text) })),
    model: optional(text),
    moderation: optional(oneOf(['auto', 'low'])),
    output_compression: optional(Type.Integer({ minimum: 0, maximum: 100 })),
    output_format: optional(oneOf(['png', 'webp', 'jpeg'])),
    partial_images: optional(Type.Integer({ minimum: 0, maximum: 3 })),
    quality: optional(oneOf(['low', 'medium', 'high', 'auto'])),
    size: optional(text),
  },
  local_shell: {},
  shell: {},
  apply_patch: {},
};

/** One tool. Undocumented hosted types are let through: they are dropped and reported later. */
export function toolSchema(vendor: string) {
  const operatorTool = `^${vendor.replace(/[^\w-]/g, '\\$&')}:`;
  return taggedUnion('type', [
    ...Object.entries(TOOL_FIELDS).map(([type, fields]) =>
      Type.Object({ type: Type.Literal(type), ...fields }),
    ),
    Type.Object({ type: Type.String({ pattern: operatorTool }), parameters: optional(openObject) }),
    Type.Unsafe<Record<string, unknown>>({
      type: 'object',
      required: ['type'],
      properties: {
        type: {
          type: 'string',
          minLength: 1,
          not: { anyOf: [{ enum: Object.keys(TOOL_FIELDS) }, { type: 'string', pattern: operatorTool }] },
        },
      },
    }),
  ]);
}

/** `tool_choice`: a word, or the tool (or tools) that may be called. */
export const toolChoiceSchema = Type.Optional(
  Type.Union([
    oneOf(['auto', 'none', 'required'], { type: 'string' }),
    taggedUnion('type', [
      Type.Object({ type: Type.Literal('function'), name }),
      Type.Object({ type: Type.Literal('custom'), name }),
      Type.Object({ type: Type.Literal('mcp'), server_label: name, name: optional(text) }),
      Type.Object({
        type: Type.Literal('allowed_tools'),
        mode: oneOf(['auto', 'required']),
        tools: Type.Array(openObject, { maxItems: MOST_TOOLS }),
      }),
      Type.Unsafe<Record<string, unknown>>({
        type: 'object',
        required: ['type'],
        properties: {
          type: {
            type: 'string',
            minLength: 1,
            not: { enum: ['function', 'custom', 'mcp', 'allowed_tools'] },
          },
        },
      }),
    ]),
    Type.Null(),
  ]),
);
