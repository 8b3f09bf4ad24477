import type { JsonObject } from '../kit/json/json.ts';
import { urlOf } from '../kit/net/url-of.ts';
import {
  address,
  type ConfigMember,
  choice,
  formed,
  HEADERS,
  optional,
  secret,
  sqlName,
  text,
  wholeAddress,
} from './config-members.ts';
import type { DestinationTarget, ObjectTarget, OtlpTarget, RowTarget } from './destination-target.ts';
import { PATH_TEMPLATE } from './object-folder.ts';

/** A kind of destination: what its configuration holds, and where that leads. */
export interface DestinationType {
  readonly label: string;
  readonly members: Readonly<Record<string, ConfigMember>>;
  /** `values`: all members that are text, with their defaults; an optional one without a default is empty. */
  target(values: Values, headers: Headers): DestinationTarget;
}

type Values = Readonly<Record<string, string>>;
type Headers = Readonly<Record<string, string>>;

const API_KEY = secret('The API key.');

/** THE table: every type of destination by its name in the API. */
export const DESTINATION_TYPES: Readonly<Record<string, DestinationType>> = {
  arize: {
    label: 'Arize AX',
    members: {
      apiKey: API_KEY,
      spaceKey: secret('The id of the space.'),
      modelId: text('The tracing project.'),
      baseUrl: address('Where it is.', 'https://otlp.arize.com'),
      headers: HEADERS,
    },
    target: ({ apiKey = '', spaceKey = '', modelId = '', baseUrl = '' }, headers) =>
      otlp({
        url: tracesAt(baseUrl),
        headers: {
          authorization: apiKey,
          api_key: apiKey,
          space_id: spaceKey,
          'arize-space-id': spaceKey,
          ...headers,
        },
        resource: { model_id: modelId, 'openinference.project.name': modelId },
      }),
  },
  braintrust: {
    label: 'Braintrust',
    members: {
      apiKey: API_KEY,
      projectId: text('The id of the project.'),
      baseUrl: address('Where it is.', 'https://api.braintrust.dev'),
      headers: HEADERS,
    },
    target: ({ apiKey = '', projectId = '', baseUrl = '' }, headers) =>
      otlp({
        url: tracesAt(`${trimmed(baseUrl)}/otel`),
        headers: { authorization: `Bearer ${apiKey}`, 'x-bt-parent': `project_id:${projectId}`, ...headers },
      }),
  },
  clickhouse: {
    label: 'ClickHouse',
    members: {
      host: address('Its HTTP interface, such as `https://clickhouse.example.com`.'),
      database: sqlName('The database.'),
      table: sqlName('The table.', 'signalbox_traces'),
      username: text('The user; `default` if none was made.'),
      password: secret('The password.'),
      headers: HEADERS,
    },
    target: ({ host = '', database = '', table = '', username = '', password = '' }, headers): RowTarget => ({
      writer: 'rows',
      url: trimmed(host),
      database,
      table,
      headers: { authorization: basic(username, password), ...headers },
    }),
  },
  datadog: {
    label: 'Datadog LLM Observability',
    members: {
      apiKey: API_KEY,
      mlApp: text('The application.'),
      url: address(
        'The API of your site; traces go to `otlp.` in place of `api.`.',
        'https://api.us5.datadoghq.com',
      ),
      headers: HEADERS,
    },
    target: ({ apiKey = '', mlApp = '', url = '' }, headers) =>
      otlp({
        url: tracesAt(url.replace('://api.', '://otlp.')),
        headers: { 'dd-api-key': apiKey, 'dd-otlp-source': 'llmobs', ...headers },
        resource: { 'service.name': mlApp },
      }),
  },
  grafana: {
    label: 'Grafana Cloud',
    members: {
      instanceId: text('The number of the instance.'),
      apiKey: API_KEY,
      baseUrl: address('Its OTLP gateway.', 'https://otlp-gateway-prod-us-west-0.grafana.net'),
      headers: HEADERS,
    },
    target: ({ instanceId = '', apiKey = '', baseUrl = '' }, headers) =>
      otlp({
        url: tracesAt(`${trimmed(baseUrl).replace(/\/otlp$/, '')}/otlp`),
        headers: { authorization: basic(instanceId, apiKey), ...headers },
      }),
  },
  langfuse: {
    label: 'Langfuse',
    members: {
      publicKey: secret('The public key.'),
      secretKey: secret('The secret key.'),
      baseUrl: address('Where it is.', 'https://us.cloud.langfuse.com'),
      headers: HEADERS,
    },
    target: ({ publicKey = '', secretKey = '', baseUrl = '' }, headers) =>
      otlp({
        url: tracesAt(`${trimmed(baseUrl)}/api/public/otel`),
        headers: {
          authorization: basic(publicKey, secretKey),
          'x-langfuse-ingestion-version': '4',
          ...headers,
        },
      }),
  },
  langsmith: {
    label: 'LangSmith',
    members: {
      apiKey: API_KEY,
      endpoint: address('Where it is.', 'https://api.smith.langchain.com'),
      project: text('The project.', 'main'),
      workspaceId: optional(text('The id of the workspace, for a key of the organisation.')),
      headers: HEADERS,
    },
    target: ({ apiKey = '', endpoint = '', project = '', workspaceId = '' }, headers) =>
      otlp({
        url: tracesAt(`${trimmed(endpoint)}/otel`),
        headers: {
          'x-api-key': apiKey,
          'langsmith-project': project,
          ...(workspaceId !== '' && { 'x-tenant-id': workspaceId }),
          ...headers,
        },
      }),
  },
  newrelic: {
    label: 'New Relic',
    members: {
      licenseKey: secret('The licence key.'),
      region: choice(['us', 'eu'], 'Where the account is.'),
      headers: HEADERS,
    },
    target: ({ licenseKey = '', region = '' }, headers) =>
      otlp({
        url: tracesAt(`https://otlp.${region === 'eu' ? 'eu01.' : ''}nr-data.net`),
        headers: { 'api-key': licenseKey, ...headers },
      }),
  },
  opik: {
    label: 'Comet Opik',
    members: {
      apiKey: API_KEY,
      workspace: text('The workspace.'),
      projectName: text('The project.'),
      baseUrl: address('Where it is.', 'https://www.comet.com/opik/api'),
      headers: HEADERS,
    },
    target: ({ apiKey = '', workspace = '', projectName = '', baseUrl = '' }, headers) =>
      otlp({
        url: tracesAt(`${trimmed(baseUrl)}/v1/private/otel`),
        headers: {
          authorization: apiKey,
          'comet-workspace': workspace,
          projectname: projectName,
          ...headers,
        },
      }),
  },
  'otel-collector': {
    label: 'OpenTelemetry collector, or any service that takes OTLP',
    members: {
      endpoint: address('The receiver; `/v1/traces` is appended unless it ends so.'),
      protocol: choice(['json', 'protobuf'], 'The encoding of OTLP.'),
      headers: HEADERS,
    },
    target: ({ endpoint = '', protocol = '' }, headers) =>
      otlp({
        url: tracesAt(endpoint),
        encoding: protocol === 'protobuf' ? 'protobuf' : 'json',
        headers,
      }),
  },
  posthog: {
    label: 'PostHog',
    members: {
      apiKey: secret('The key of the project.'),
      endpoint: address('Where it is.', 'https://us.i.posthog.com'),
      headers: HEADERS,
    },
    target: ({ apiKey = '', endpoint = '' }, headers) =>
      otlp({
        url: `${trimmed(endpoint)}/i/v0/ai/otel`,
        headers: { authorization: `Bearer ${apiKey}`, ...headers },
      }),
  },
  s3: {
    label: 'S3, or a service like it',
    members: {
      bucketName: formed(
        {
          pattern: '^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$',
          explain: 'must be the name of a bucket: 3 to 63 lower-case letters, digits, "." and "-"',
        },
        'The bucket.',
      ),
      accessKeyId: secret('The id of the access key.'),
      secretAccessKey: secret('The secret of the access key.'),
      sessionToken: optional(secret('The token of a temporary key.')),
      region: formed(
        { pattern: '^[a-z0-9-]{2,32}$', explain: 'must be the name of a region such as us-east-1' },
        'The region.',
        'us-east-1',
      ),
      endpoint: optional(address('The address of a service like S3; AWS without it.')),
      prefix: optional(formed(PATH_TEMPLATE.prefix, 'What `{prefix}` stands for.')),
      pathTemplate: formed(
        PATH_TEMPLATE.template,
        'The folders of objects, of `{prefix}`, `{date}`, `{year}`, `{month}`, `{day}` and `{apiKeyName}`.',
        '{prefix}/{date}',
      ),
      headers: HEADERS,
    },
    target: (
      { bucketName = '', accessKeyId = '', secretAccessKey = '', sessionToken = '', region = '', ...rest },
      headers,
    ): ObjectTarget => ({
      writer: 'objects',
      url: `${trimmed(rest.endpoint || `https://s3.${region}.amazonaws.com`)}/${bucketName}`,
      signingKey: { accessKeyId, secretAccessKey, region, ...(sessionToken !== '' && { sessionToken }) },
      prefix: rest.prefix ?? '',
      pathTemplate: rest.pathTemplate ?? '',
      headers,
    }),
  },
  sentry: {
    label: 'Sentry',
    members: {
      dsn: {
        ...secret('The DSN of the project.'),
        schema: formed(
          {
            pattern: '^https?://[0-9A-Za-z]+(?::[0-9A-Za-z]+)?@[^\\s/@?#\\\\]+/[^\\s?#]+$',
            explain: 'must be a DSN such as https://key@o1.ingest.sentry.io/2',
          },
          '',
        ).schema,
      },
      otlpEndpoint: address('Where its traces go; `/v1/traces` is appended unless it ends so.'),
      headers: HEADERS,
    },
    target: ({ dsn = '', otlpEndpoint = '' }, headers) =>
      otlp({
        url: tracesAt(otlpEndpoint),
        headers: { 'x-sentry-auth': `sentry sentry_key=${urlOf(dsn)?.username ?? ''}`, ...headers },
      }),
  },
  weave: {
    label: 'W&B Weave',
    members: {
      apiKey: API_KEY,
      entity: text('The team or user.'),
      project: text('The project.'),
      baseUrl: address('Where it is.', 'https://trace.wandb.ai'),
      headers: HEADERS,
    },
    target: ({ apiKey = '', entity = '', project = '', baseUrl = '' }, headers) =>
      otlp({
        url: tracesAt(`${trimmed(baseUrl)}/otel`),
        headers: { 'wandb-api-key': apiKey, ...headers },
        resource: { 'wandb.entity': entity, 'wandb.project': project },
      }),
  },
  webhook: {
    label: 'Any HTTP service, as OTLP in JSON',
    members: {
      url: wholeAddress('Where requests go, as it is.'),
      method: choice(['POST', 'PUT'], 'The method of requests.'),
      headers: HEADERS,
    },
    target: ({ url = '', method = '' }, headers) =>
      otlp({ url, method: method === 'PUT' ? 'PUT' : 'POST', encoding: 'json', headers }),
  },
};

/** Types of the API that no writer serves, and why, in words that follow "it". */
export const UNSERVED_TYPES: Readonly<Record<string, string>> = {
  ramp: 'publishes no format that traces could be sent in',
  snowflake: 'takes neither OTLP nor objects; let it read those of an s3 destination',
};

export const DESTINATION_TYPE_NAMES: readonly string[] = Object.keys(DESTINATION_TYPES);

/** Where a destination leads. `config`: complete, with its secrets, and checked. */
export function targetOf(type: string, config: JsonObject): DestinationTarget {
  const row = DESTINATION_TYPES[type];
  if (row === undefined) throw new Error(`there is no destination type ${type}`);
  const values = Object.fromEntries(
    Object.entries(row.members).map(([name, { fallback = '' }]) => [name, config[name] ?? fallback]),
  ) as Values;
  const headers = Object.entries((config.headers ?? {}) as Headers);
  return row.target(values, Object.fromEntries(headers.map(([name, value]) => [name.toLowerCase(), value])));
}

function otlp({
  url,
  method = 'POST',
  encoding = 'protobuf',
  headers,
  resource = {},
}: Pick<OtlpTarget, 'url' | 'headers'> & Partial<OtlpTarget>): OtlpTarget {
  return { writer: 'otlp', url, method, encoding, headers, resource };
}

const TRACES_PATH = '/v1/traces';

/** The address of the traces of a receiver. */
function tracesAt(endpoint: string): string {
  const base = trimmed(endpoint);
  return base.endsWith(TRACES_PATH) ? base : base + TRACES_PATH;
}

function trimmed(url: string): string {
  return url.replace(/\/+$/, '');
}

function basic(user: string, password: string): string {
  return `Basic ${Buffer.from(`${user}:${password}`, 'utf8').toString('base64')}`;
}
