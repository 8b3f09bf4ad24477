import Type, { type Static } from 'typebox';
import { FUSION_PRESETS } from '../../../catalog/fusion-team.ts';
import { domainsSchema, engineNameSchema, userLocationFields } from '../../../config/schema/web-fields.ts';
import { invalidRequest } from '../../../ir/errors.ts';
import type { CacheMark } from '../../../ir/items.ts';
import type { RoutingWishes } from '../../../ir/request.ts';
import { isJsonObject, type Json, type JsonObject } from '../../../kit/json/json.ts';
import { jsonLength } from '../../../kit/json/json-length.ts';
import { withoutNulls } from '../../../kit/json/members.ts';
import { closed, nullish, oneOf, open, openOneOf, taggedUnion } from '../../../kit/json/schema.ts';
import type { Issue } from '../../../kit/json/validate.ts';

/** Schemas of the request fields for the gateway, which all formats of conversations share. */

/** Slugs of providers. The limit is far above their number. */
const slugs = Type.Array(Type.String({ maxLength: 256 }), { maxItems: 1024 });

const QUANTIZATIONS = [
  'int4',
  'int8',
  'fp4',
  'fp6',
  'fp8',
  'fp16',
  'bf16',
  'fp32',
  'unknown',
  'mxfp4',
  'nvfp4',
  'mxfp8',
] as const;

const sortKey = oneOf(['price', 'throughput', 'latency', 'exacto']);
const percentiles = closed({
  p50: nullish(Type.Number({ minimum: 0 })),
  p75: nullish(Type.Number({ minimum: 0 })),
  p90: nullish(Type.Number({ minimum: 0 })),
  p99: nullish(Type.Number({ minimum: 0 })),
});
const threshold = Type.Union([Type.Number({ minimum: 0 }), percentiles]);
const price = Type.Union([Type.Number({ minimum: 0 }), Type.String({ pattern: '^\\d+(\\.\\d+)?$' })]);

export const providerPreferencesSchema = closed(
  {
    order: nullish(slugs),
    allow_fallbacks: nullish(Type.Boolean()),
    require_parameters: nullish(Type.Boolean()),
    data_collection: nullish(oneOf(['allow', 'deny'])),
    zdr: nullish(Type.Boolean()),
    enforce_distillable_text: nullish(Type.Boolean()),
    only: nullish(slugs),
    ignore: nullish(slugs),
    quantizations: nullish(Type.Array(oneOf(QUANTIZATIONS), { maxItems: 64 })),
    sort: nullish(
      Type.Union([sortKey, closed({ by: nullish(sortKey), partition: nullish(oneOf(['model', 'none'])) })]),
    ),
    max_price: nullish(
      closed({
        prompt: nullish(price),
        completion: nullish(price),
        request: nullish(price),
        image: nullish(price),
        audio: nullish(price),
      }),
    ),
    preferred_min_throughput: nullish(threshold),
    preferred_max_latency: nullish(threshold),
  },
  { description: 'Routing preferences.' },
);

/** The place of a user in tools of the base formats, which may have further members and need not say its type. */
export const userLocationSchema = open({ ...userLocationFields, type: nullish(userLocationFields.type) });

const patterns = Type.Array(Type.String({ maxLength: 1024 }), { maxItems: 1024 });

/** Characters of all patterns of one list together. */
const MAX_PATTERN_CHARACTERS = 65_536;
const PATTERN_LISTS = [
  'allowed_models',
  'excluded_models',
  'include_domains',
  'exclude_domains',
  'allowed_domains',
  'blocked_domains',
];

const enabled = nullish(Type.Boolean({ default: true }));

function routerPlugin<const Id extends string>(id: Id) {
  return closed({
    id: Type.Literal(id),
    enabled,
    allowed_models: nullish(patterns),
    cost_quality_tradeoff: nullish(Type.Integer({ minimum: 0, maximum: 10, default: 7 })),
    cost_tier: nullish(oneOf(['low', 'medium', 'high', 'xhigh', 'max'])),
    excluded_models: nullish(patterns),
    pin_model: nullish(Type.Boolean()),
  });
}

export const pluginSchema = taggedUnion('id', [
  routerPlugin('auto-router'),
  routerPlugin('auto-beta-router'),
  closed({ id: Type.Literal('context-compression'), enabled, engine: nullish(oneOf(['middle-out'])) }),
  closed({
    id: Type.Literal('file-parser'),
    enabled,
    pdf: nullish(closed({ engine: nullish(oneOf(['native', 'mistral-ocr', 'cloudflare-ai', 'pdf-text'])) })),
  }),
  closed({
    id: Type.Literal('fusion'),
    enabled,
    analysis_models: nullish(
      Type.Array(Type.String({ minLength: 1 }), {
        minItems: 1,
        maxItems: 8,
        description: 'Models of the panel: each answers the request.',
      }),
    ),
    model: nullish(Type.String({ minLength: 1, description: 'The judge, which compares the answers.' })),
    max_tool_calls: nullish(
      Type.Integer({
        minimum: 1,
        maximum: 16,
        default: 8,
        description: 'For each model of the panel, and the judge.',
      }),
    ),
    preset: nullish(
      oneOf(FUSION_PRESETS, { description: 'Panel and judge; `analysis_models` and `model` win over it.' }),
    ),
    tools: nullish(
      Type.Array(Type.Object({ type: Type.String({ minLength: 1 }), parameters: nullish(Type.Object({})) }), {
        maxItems: 8,
        description: 'Server tools for panel and judge; web search and web fetch by default, none if empty.',
      }),
    ),
  }),
  closed({ id: Type.Literal('moderation'), enabled }),
  closed({
    id: Type.Literal('pareto-router'),
    enabled,
    min_coding_score: nullish(Type.Number({ minimum: 0, maximum: 1 })),
    price_source: nullish(oneOf(['prompt', 'weighted_avg'], { default: 'prompt' })),
    max_price: nullish(Type.Number({ minimum: 0 })),
  }),
  closed({ id: Type.Literal('response-healing'), enabled }),
  closed({
    id: Type.Literal('web'),
    enabled,
    engine: nullish(engineNameSchema),
    exclude_domains: nullish(domainsSchema),
    include_domains: nullish(domainsSchema),
    max_results: nullish(Type.Integer({ minimum: 1, maximum: 25, default: 5 })),
    max_uses: nullish(Type.Integer({ minimum: 1 })),
    mode: nullish(Type.String({ maxLength: 64 })),
    search_prompt: nullish(Type.String({ maxLength: 65_536 })),
    user_location: nullish(closed(userLocationFields)),
  }),
  closed({
    id: Type.Literal('web-fetch'),
    enabled,
    allowed_domains: nullish(domainsSchema),
    blocked_domains: nullish(domainsSchema),
    max_content_tokens: nullish(Type.Integer({ minimum: 1 })),
    max_uses: nullish(Type.Integer({ minimum: 1 })),
  }),
]);

export const stopConditionSchema = taggedUnion('type', [
  Type.Object({ type: Type.Literal('step_count_is'), step_count: Type.Integer({ minimum: 1 }) }),
  Type.Object({ type: Type.Literal('has_tool_call'), tool_name: Type.String({ minLength: 1 }) }),
  Type.Object({ type: Type.Literal('max_tokens_used'), max_tokens: Type.Integer({ minimum: 1 }) }),
  Type.Object({
    type: Type.Literal('max_cost'),
    max_cost_in_dollars: Type.Number({ minimum: 0 }),
    hard: nullish(
      Type.Boolean({
        default: false,
        description:
          'Whether the whole request may never cost more: the worst cost of each model call is reserved within the ' +
          'amount, 402 if the amount does not pay for the first.',
      }),
    ),
  }),
  Type.Object({ type: Type.Literal('finish_reason_is'), reason: Type.String({ minLength: 1 }) }),
]);

export const cacheControlSchema = Type.Object(
  { type: Type.Literal('ephemeral'), ttl: nullish(openOneOf(['5m', '1h'])) },
  { description: 'Prompt caching; as a top-level field the mark goes on the last cacheable block.' },
);

export const promptCacheOptionsSchema = Type.Object({
  mode: nullish(openOneOf(['explicit', 'implicit'])),
  ttl: nullish(Type.String()),
});

const imageConfigSchema = Type.Record(
  Type.String(),
  Type.Union([Type.String(), Type.Number(), Type.Array(Type.Unknown())]),
);

const traceKey = nullish(Type.String());

/** No upstream writes more tokens: larger limits are mistakes. */
export const MAX_REQUESTED_TOKENS = 2 ** 31 - 1;

/** Entries of the lists for the gateway, of `modalities` and of `tools`: far more than clients send. */
export const MAX_LIST_ENTRIES = 64;
export const MAX_MODALITIES = 16;
export const MAX_TOOLS = 4096;

export const gatewayFieldSchemas = {
  models: nullish(Type.Array(Type.String({ minLength: 1 }), { maxItems: MAX_LIST_ENTRIES })),
  provider: nullish(providerPreferencesSchema),
  plugins: nullish(Type.Array(pluginSchema, { maxItems: MAX_LIST_ENTRIES })),
  preset: nullish(Type.String({ maxLength: 256, description: 'Slug of a preset to be merged in.' })),
  route: nullish(oneOf(['fallback', 'sort'], { deprecated: true })),
  session_id: nullish(Type.String({ maxLength: 256 })),
  user: nullish(Type.String({ maxLength: 256 })),
  stop_server_tools_when: nullish(
    Type.Array(stopConditionSchema, { minItems: 1, maxItems: MAX_LIST_ENTRIES }),
  ),
  trace: nullish(
    open({
      trace_id: traceKey,
      trace_name: traceKey,
      span_name: traceKey,
      generation_name: traceKey,
      parent_span_id: traceKey,
    }),
  ),
  cache_control: nullish(cacheControlSchema),
};

const { models, provider, route, session_id, user, trace, preset } = gatewayFieldSchemas;

/** The fields that mean something where there is no conversation to change. */
export const routingFieldSchemas = { models, provider, route, session_id, user, trace, preset };

export { imageConfigSchema };

/** Fields of every format that never go upstream. */
export const SHARED_GATEWAY_FIELDS: readonly string[] = [
  'models',
  'provider',
  'plugins',
  'route',
  'session_id',
  'stop_server_tools_when',
  'trace',
  'debug',
  'preset',
];

/** Parses the routing wishes of a validated body. Throws if the texts of a list are too long in sum. */
export function parseWishes(body: JsonObject): RoutingWishes {
  const { route, session_id: sessionId, stop_server_tools_when: conditions, max_tool_calls: calls } = body;
  const wishes: { -readonly [Name in keyof RoutingWishes]: RoutingWishes[Name] } = {
    provider: isJsonObject(body.provider) ? withoutNulls(body.provider) : {},
    plugins: Array.isArray(body.plugins) ? enabledPlugins(body.plugins as JsonObject[]) : [],
  };
  if (typeof route === 'string') wishes.route = route as 'fallback' | 'sort';
  if (typeof sessionId === 'string') wishes.sessionId = sessionId;
  if (Array.isArray(conditions)) wishes.stopServerToolsWhen = conditions as JsonObject[];
  if (calls !== undefined && calls !== null) wishes.maxToolCalls = requireCount(calls);
  if (isJsonObject(body.trace)) wishes.trace = requireKeepable(body.trace);
  return wishes;
}

/** Formats that do not document the field have no schema for it. */
function requireCount(calls: Json): number {
  if (typeof calls === 'number' && Number.isSafeInteger(calls) && calls >= 0) return calls;
  throw invalidRequest([{ path: 'max_tool_calls', message: 'must be an integer of at least 0' }]);
}

/** Characters of `trace` as JSON: it is stored with the record of the generation. */
const MAX_TRACE_CHARACTERS = 16_384;

function requireKeepable(trace: JsonObject): JsonObject {
  if (jsonLength(trace) <= MAX_TRACE_CHARACTERS) return trace;
  throw invalidRequest([
    { path: 'trace', message: `must have at most ${MAX_TRACE_CHARACTERS} characters, written as JSON` },
  ]);
}

function enabledPlugins(plugins: readonly JsonObject[]): JsonObject[] {
  const issues = plugins.flatMap((plugin, index) => [
    ...patternIssues(plugin, index),
    ...repeatedIssues(plugins, index),
  ]);
  if (issues.length > 0) throw invalidRequest(issues);
  return plugins.filter((plugin) => plugin.enabled !== false);
}

function repeatedIssues(plugins: readonly JsonObject[], index: number): Issue[] {
  const { id } = plugins[index] ?? {};
  const first = plugins.findIndex((plugin) => plugin.id === id);
  return first === index
    ? []
    : [{ path: `plugins[${index}].id`, message: `is the same as plugins[${first}].id` }];
}

function patternIssues(plugin: JsonObject, index: number): Issue[] {
  return PATTERN_LISTS.flatMap((name) => {
    const patterns = plugin[name];
    if (!Array.isArray(patterns)) return [];
    const characters = patterns.reduce((sum: number, pattern) => sum + String(pattern).length, 0);
    if (characters <= MAX_PATTERN_CHARACTERS) return [];
    const message = `must have at most ${MAX_PATTERN_CHARACTERS} characters in all patterns together`;
    return [{ path: `plugins[${index}].${name}`, message }];
  });
}

/** The tools that the gateway runs in all formats, by the word after `<vendor>:`. */
export const SERVER_TOOL_NAMES = [
  'advisor',
  'bash',
  'code_interpreter',
  'datetime',
  'experimental__search_models',
  'files',
  'fusion',
  'image_generation',
  'shell',
  'subagent',
  'web_fetch',
  'web_search',
] as const;

/** Types of the server tools of a format. `further`: names of tools that only this format has. */
export function serverToolTypes(vendor: string, further: readonly string[] = []): string[] {
  return [...SERVER_TOOL_NAMES, ...further].map((name) => `${vendor}:${name}`);
}

/** Annotations of the type of a tool that the gateway runs. `further`: names that only this format has. */
export function serverToolType(vendor: string, further: readonly string[] = []) {
  const types = serverToolTypes(vendor, further);
  return {
    description: `A tool that the gateway runs: ${types.map((type) => `\`${type}\``).join(', ')}. The guide to tools lists the members of \`parameters\`.`,
    examples: types,
  };
}

export function parseCacheMark(value: Json | undefined): CacheMark | undefined {
  if (!isJsonObject(value)) return undefined;
  return typeof value.ttl === 'string' ? { ttl: value.ttl } : {};
}

/** Writes a mark as the messages format has it. */
export function renderCacheMark(mark: CacheMark): JsonObject {
  return mark.ttl === undefined ? { type: 'ephemeral' } : { type: 'ephemeral', ttl: mark.ttl };
}

/** Model ids in order of preference: `model` first, then `models`, duplicates dropped. */
export function modelList(model: Json | undefined, models: Json | undefined): string[] {
  if (!Array.isArray(models)) return typeof model === 'string' && model !== '' ? [model] : [];
  const list = [...(typeof model === 'string' && model !== '' ? [model] : []), ...(models as string[])];
  return [...new Set(list)];
}

export type ProviderPreferences = Static<typeof providerPreferencesSchema>;
