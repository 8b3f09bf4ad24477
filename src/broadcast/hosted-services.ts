import { urlOf } from '../kit/net/url-of.ts';
import type { DestinationTypeName } from '../ports/following/destinations.ts';
import { address, choice, formed, HEADERS, optional, secret, text } from './config-members.ts';
import { basic, type DestinationType, otlp, tracesAt, trimmed } from './destination-type.ts';

const API_KEY = secret('The API key.');

/** Services that take OTLP at an address, and with headers, of their own. */
export const HOSTED_SERVICES = {
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
        // It filters by nothing else.
        metadataPrefix: 'langfuse.trace.metadata.',
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
} as const satisfies Partial<Record<DestinationTypeName, DestinationType>>;
