import Type, { type Static, type TSchema } from 'typebox';
import { closed, nullish, oneOf } from '../../kit/json/schema.ts';
import { MAX_USD } from '../../kit/money.ts';
import { MAX_WORKERS } from '../worker-count.ts';
import {
  datedPrices,
  day,
  dayOrMonth,
  endpointTag,
  inputModalities,
  modelId,
  outputModalities,
  parameterNames,
  pricing,
  providerSlug,
  quality,
  quantization,
  reasoning,
  share,
  tokens,
} from './catalog-members.ts';
import type { Unit } from './units.ts';
import { workspace } from './workspace-members.ts';

/**
 * The configuration file. A key with a `default` is always there once the defaults are filled in, so its type is not
 * optional; the others may be absent or null. Keys are named as in the file.
 */

const MAX_TIMER_MS = 2_147_483_647;

/** A key with a default. */
function withDefault<T extends TSchema>(schema: T, value: unknown): T {
  return { ...schema, default: value };
}

/** A section whose keys all have defaults. */
function section<T extends Parameters<typeof closed>[0]>(properties: T) {
  return withDefault(closed(properties), {});
}

/** A number whose key ends in its unit; the file may write it with any unit of that kind. */
const quantity = (unit: Unit, value: number, minimum: number, maximum: number) =>
  withDefault(Type.Integer({ minimum, maximum, unit }), value);
const count = (value: number) =>
  withDefault(Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }), value);
const milliseconds = (value: number, minimum = 1) => quantity('ms', value, minimum, MAX_TIMER_MS);
const bytes = (value: number, minimum = 1, maximum = Number.MAX_SAFE_INTEGER) =>
  quantity('bytes', value, minimum, maximum);
const days = (value: number) => quantity('days', value, 1, Number.MAX_SAFE_INTEGER);
const text = (maxLength: number) => Type.String({ minLength: 1, maxLength });
const nullOr = <T extends TSchema>(schema: T) => withDefault(Type.Union([schema, Type.Null()]), null);

/** Wire dialects by their names in the file. */
export const DIALECT_WORDS = [
  'openai-chat',
  'openai-responses',
  'anthropic-messages',
  'google-gemini',
  'aws-bedrock',
  'simulator',
] as const;

const modelPattern = Type.String({
  pattern: '^[A-Za-z0-9._~:/+*-]{1,1024}$',
  explain: 'is no pattern of model ids: letters, digits, ".", "_", "-", ":", "/", "+", and "*" for any run',
});

/** Names of presets and MCP servers. */
const label = {
  type: 'string',
  pattern: '^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$',
  explainPattern: 'must be 1 to 64 letters, digits, "_" and "-", beginning with a letter or digit',
} as const;

const requestHeaders = withDefault(
  Type.Record(Type.String(), Type.String({ maxLength: 8192 }), {
    propertyNames: {
      type: 'string',
      pattern: "^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$",
      explainPattern: 'must be the name of a header: letters, digits and "-"',
    },
  }),
  {},
);

const provider = closed({
  slug: providerSlug,
  name: nullish(text(100)),
  dialect: nullish(oneOf(DIALECT_WORDS)),
  base_url: nullish(text(2048)),
  api_key: nullish(text(65_536)),
  headers: requestHeaders,
  unpriced: nullish(oneOf(['allow', 'refuse'])),
  data_policy: nullish(closed({ training: Type.Boolean(), retains_prompts: Type.Boolean() })),
  takes: nullish(closed({ system_turns: nullish(Type.Boolean()), callers_version: nullish(Type.Boolean()) })),
  timeouts_ms: section({
    connect: milliseconds(10_000),
    first_byte: milliseconds(120_000),
    idle: milliseconds(120_000),
    total: milliseconds(600_000),
  }),
});

const endpoint = closed({
  provider: providerSlug,
  model: nullish(text(512)),
  tag: nullish(endpointTag),
  quantization: nullish(quantization),
  context_length: nullish(tokens),
  max_output_tokens: nullish(tokens),
  max_inputs: nullish(tokens),
  max_messages: nullish(tokens),
  decisions: nullish(oneOf(['openai', 'system-one'])),
  supported_parameters: nullish(parameterNames),
  pricing: nullish(pricing),
  prices: nullish(datedPrices),
  unpriced: nullish(oneOf(['allow', 'refuse'])),
});

/** No defaults: members that the file leaves out come from the shipped catalogue. */
const model = closed({
  id: modelId,
  name: nullish(text(200)),
  created: nullish(day),
  knowledge_cutoff: nullish(dayOrMonth),
  context_length: nullish(tokens),
  max_output_tokens: nullish(tokens),
  input_modalities: nullish(inputModalities),
  output_modalities: nullish(outputModalities),
  aliases: nullish(Type.Array(modelId)),
  quality: nullish(quality),
  reasoning: nullish(reasoning),
  distillable: nullish(Type.Boolean()),
  endpoints: Type.Array(endpoint, { minItems: 1 }),
});

const panel = Type.Array(modelId, { minItems: 1, maxItems: 8 });
const fusionPreset = closed({ panel: nullish(panel), judge: nullish(modelId) });

/** USD; a higher price is a typing error. */
const MAX_USD_PER_PAGE = 100;
const MAX_USD_PER_SEARCH = 100;
const MAX_USD_PER_RUN = 100;

const usdPerSearch = Type.Number({ minimum: 0, maximum: MAX_USD_PER_SEARCH });

const searchEngine = closed({
  api_key: nullish(text(8192)),
  url: nullish(text(2048)),
  price_per_search: nullish(Type.Union([usdPerSearch, Type.Record(Type.String(), usdPerSearch)])),
  price_per_result: nullish(usdPerSearch),
  modes: nullish(Type.Array(text(64), { minItems: 1, maxItems: 64 })),
});

const providerService = closed({ provider: providerSlug, model: text(256) });

const plugins = section({
  'auto-router': nullish(closed({ models: nullish(Type.Array(modelPattern, { maxItems: 1024 })) })),
  fusion: nullish(
    closed({
      panel: nullish(panel),
      judge: nullish(modelId),
      presets: nullish(
        closed({
          'general-high': nullish(fusionPreset),
          'general-budget': nullish(fusionPreset),
          'general-fast': nullish(fusionPreset),
        }),
      ),
    }),
  ),
  web: nullish(
    closed({
      engines: withDefault(
        Type.Record(Type.String(), searchEngine, {
          propertyNames: {
            type: 'string',
            pattern: '^[a-z0-9][a-z0-9_-]{0,63}$',
            explainPattern: 'must be 1 to 64 of a-z, 0-9, "_" and "-", beginning with a letter or digit',
          },
        }),
        {},
      ),
      default: nullish(text(64)),
    }),
  ),
  moderation: nullish(providerService),
  'file-parser': nullish(
    closed({
      ocr: nullish(
        closed({
          provider: providerSlug,
          model: text(256),
          price_per_page: nullish(Type.Number({ minimum: 0, maximum: MAX_USD_PER_PAGE })),
        }),
      ),
    }),
  ),
});

const keyHash = Type.String({
  pattern: '^[a-f0-9]{64}$',
  explain: 'must be the hash of a key: 64 lower-case hex digits, as `signalbox keys list` shows it',
});

const tools = section({
  image_generation: nullish(closed({ model: modelId })),
  sandbox: nullish(
    closed({
      url: Type.String({
        pattern: '^https?://[^\\s/@]+(?:/[^\\s#?]*)?$',
        maxLength: 2048,
        explain: 'must be an http or https address without a user name, for example http://127.0.0.1:8890',
      }),
      token: nullish(text(8192)),
      price_per_run: withDefault(Type.Number({ minimum: 0, maximum: MAX_USD_PER_RUN }), 0),
    }),
  ),
  mcp_servers: withDefault(
    Type.Record(
      Type.String(),
      closed({
        url: Type.String({
          pattern: '^https?://[^\\s/@]+(?:/[^\\s#]*)?$',
          maxLength: 2048,
          explain:
            'must be an http or https address without a user name, for example https://mcp.example.com/mcp',
        }),
        authorization: nullish(text(8192)),
        headers: requestHeaders,
        description: nullish(text(2000)),
        allowed_tools: nullish(Type.Array(text(128), { maxItems: 1024 })),
        read_only: withDefault(Type.Boolean(), false),
        all_accounts: withDefault(Type.Boolean(), false),
        workspaces: nullish(Type.Array(text(128), { minItems: 1, maxItems: 1000 })),
        keys: nullish(Type.Array(keyHash, { minItems: 1, maxItems: 1000 })),
      }),
      { propertyNames: label },
    ),
    {},
  ),
  limits: section({
    fetch_ms: milliseconds(10_000),
    tool_ms: milliseconds(60_000),
    read_bytes: bytes(5_000_000),
    result_characters: count(100_000),
    steps: withDefault(Type.Integer({ minimum: 1, maximum: 1000 }), 30),
  }),
});

const GIB = 1024 ** 3;

/** How much may be stored as files by one key, in one workspace or in one account. */
function fileQuota(maxBytes: number, maxFiles: number) {
  const most = Number.MAX_SAFE_INTEGER;
  return section({
    max_bytes: withDefault(
      Type.Union([Type.Integer({ minimum: 0, maximum: most, unit: 'bytes' }), Type.Null()]),
      maxBytes,
    ),
    max_files: withDefault(Type.Union([Type.Integer({ minimum: 0, maximum: most }), Type.Null()]), maxFiles),
  });
}

const prompt = closed({ instructions: nullish(Type.String()), input: nullish(Type.String()) });

export const configSchema = closed({
  vendor: withDefault(
    Type.String({
      pattern: '^[a-z][a-z0-9-]{0,31}$',
      explain: 'must be 1 to 32 of a-z, 0-9 and "-", beginning with a letter',
    }),
    'signalbox',
  ),
  server: section({
    base_path: withDefault(
      Type.String({
        pattern: '^(/[A-Za-z0-9._~-]+)+$',
        maxLength: 256,
        explain: 'must begin with "/" and not end with one, for example /api/v1',
      }),
      '/api/v1',
    ),
    max_body_bytes: bytes(33_554_432, 1024, 1_073_741_824),
    request_deadline_ms: milliseconds(600_000),
    region: withDefault(text(64), 'local'),
    workers: withDefault(
      Type.Union([Type.Integer({ minimum: 1, maximum: MAX_WORKERS }), Type.Literal('auto')], {
        explain: `must be a whole number from 1 to ${MAX_WORKERS}, or "auto"`,
      }),
      1,
    ),
    tls: nullOr(closed({ cert: text(4096), key: text(4096) })),
    trusted_proxies: withDefault(Type.Array(text(64), { maxItems: 256 }), []),
    cors: section({
      origins: withDefault(
        Type.Array(
          Type.String({
            pattern: '^(?:\\*|https?://[A-Za-z0-9.:\\[\\]-]+)$',
            maxLength: 512,
            explain: 'must be the origin of a page, for example https://app.example.com, or "*" for any',
          }),
          { maxItems: 256 },
        ),
        [],
      ),
    }),
  }),
  providers: withDefault(Type.Array(provider, { maxItems: 1000 }), []),
  models: withDefault(Type.Array(model, { maxItems: 100_000 }), []),
  limits: section({
    max_concurrent_requests: count(4096),
    large_bodies_bytes: nullOr(Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, unit: 'bytes' })),
    per_key: section({
      requests_per_minute: nullOr(Type.Integer({ minimum: 1 })),
      requests_per_day: nullOr(Type.Integer({ minimum: 1 })),
      tokens_per_minute: nullOr(Type.Integer({ minimum: 1 })),
      tokens_per_day: nullOr(Type.Integer({ minimum: 1 })),
    }),
    files: section({
      per_key: fileQuota(5 * GIB, 10_000),
      per_workspace: fileQuota(20 * GIB, 50_000),
      per_account: fileQuota(50 * GIB, 100_000),
      min_free_disk_bytes: bytes(256 * 1024 * 1024, 0),
    }),
    analytics_per_minute: count(64),
    datasets: section({ per_minute: count(30), per_day: count(500) }),
  }),
  credits: section({ initial_usd: nullOr(Type.Number({ minimum: 0, maximum: MAX_USD })) }),
  byok: section({ fee: withDefault(share, 0) }),
  routing: section({
    attempts_per_model: withDefault(Type.Integer({ minimum: 1, maximum: 100 }), 3),
    attempts_per_request: withDefault(Type.Integer({ minimum: 1, maximum: 100 }), 8),
    sticky_idle_ms: milliseconds(600_000),
    cooldown: section({
      failures: withDefault(Type.Integer({ minimum: 1, maximum: 1000 }), 5),
      base_ms: milliseconds(30_000),
      max_ms: milliseconds(300_000),
    }),
  }),
  durability: section({
    ledger: withDefault(oneOf(['power', 'process']), 'power'),
    checkpoint_ms: milliseconds(1000),
  }),
  storage: section({
    s3: nullOr(
      closed({
        endpoint: nullish(
          Type.String({
            pattern: '^https?://[A-Za-z0-9.:\\[\\]-]+$',
            maxLength: 512,
            explain: 'must be scheme, host and port, for example https://storage.internal:9000',
          }),
        ),
        region: nullish(
          Type.String({ pattern: '^[a-z0-9-]{1,64}$', explain: 'must be 1 to 64 of a-z, 0-9 and "-"' }),
        ),
        bucket: Type.String({
          pattern: '^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$',
          explain: 'must be 3 to 63 of a-z, 0-9, "." and "-", beginning and ending with a letter or digit',
        }),
        prefix: nullish(
          Type.String({
            pattern: '^([A-Za-z0-9._-]+/)*$',
            maxLength: 512,
            explain: 'must be names of letters, digits, ".", "_" and "-", each with "/" behind it',
          }),
        ),
        access_key_id: text(256),
        secret_access_key: text(512),
        session_token: nullish(text(8192)),
        path_style: nullish(Type.Boolean()),
      }),
    ),
  }),
  ledger: section({
    slices: section({
      max_usd: withDefault(Type.Number({ minimum: 0, maximum: MAX_USD }), 25),
      max_share: withDefault(share, 0.02),
    }),
  }),
  retention: section({
    events_days: days(400),
    events_backlog_bytes: bytes(134_217_728),
    content_days: days(30),
    content_bytes: bytes(10_737_418_240),
    output_items_bytes: bytes(67_108_864, 0),
  }),
  drain_ms: milliseconds(30_000, 0),
  drain_grace_ms: nullOr(Type.Integer({ minimum: 0, maximum: MAX_TIMER_MS, unit: 'ms' })),
  keys: section({
    prefix: withDefault(
      Type.String({
        pattern: '^[A-Za-z0-9][A-Za-z0-9_-]{0,31}$',
        explain: 'must be 1 to 32 letters, digits, "_" and "-", beginning with a letter or digit',
      }),
      'sk-sb-v1-',
    ),
  }),
  prompts: withDefault(Type.Record(Type.String(), prompt), {}),
  apps: section({ hidden: withDefault(Type.Array(text(255)), []) }),
  guardrails: section({
    presidio_url: nullOr(
      Type.String({
        pattern: '^https?://[^\\s/@]+(?:/[^\\s?#]*)?$',
        maxLength: 2048,
        explain: 'must be an http or https address without a user name, for example http://127.0.0.1:5002',
      }),
    ),
  }),
  egress: section({ allow: withDefault(Type.Array(text(255)), []) }),
  plugins,
  presets: withDefault(
    Type.Record(Type.String(), Type.Record(Type.String(), Type.Unknown()), {
      propertyNames: label,
    }),
    {},
  ),
  tools,
  workspaces: withDefault(Type.Array(workspace, { maxItems: 1000 }), []),
  observability: section({
    trace_url: nullOr(
      Type.String({
        pattern: '^https?://\\S+$',
        maxLength: 2048,
        explain:
          'must be an address with {trace_id} in it, such as https://traces.example.com/trace/{trace_id}',
      }),
    ),
    propagate_trace: withDefault(Type.Boolean(), false),
    spool: section({
      max_days: days(3),
      max_generations: withDefault(Type.Integer({ minimum: 1, maximum: 1_000_000_000 }), 1_000_000),
      content_bytes: bytes(1_073_741_824),
    }),
    otlp: nullOr(
      closed({
        endpoint: Type.String({
          pattern: '^https?://[^\\s/@]+(?:/[^\\s?#]*)?$',
          maxLength: 2048,
          explain: 'must be an http or https address without a user name, for example http://127.0.0.1:4318',
        }),
        headers: requestHeaders,
        protocol: withDefault(oneOf(['protobuf', 'json']), 'protobuf'),
        metrics: section({ every_s: withDefault(Type.Integer({ minimum: 1, maximum: 3600 }), 15) }),
        logs: withDefault(Type.Boolean(), true),
      }),
    ),
  }),
  metrics: section({
    public: withDefault(Type.Boolean(), false),
    token: nullish(
      Type.String({
        pattern: '^[\\x21-\\x7e]{16,512}$',
        explain: 'must be 16 to 512 characters without spaces: make one with `openssl rand -hex 32`',
      }),
    ),
  }),
});

/** The configuration: the file with defaults and variables filled in. */
export type Config = Static<typeof configSchema>;
