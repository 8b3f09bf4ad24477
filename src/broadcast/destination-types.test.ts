import { describe, expect, it } from 'vitest';
import { DESTINATION_TYPE_NAMES } from '../ports/following/destinations.ts';
import { configIssues } from './destination-config.ts';
import { DESTINATION_TYPES, targetOf, UNSERVED_TYPES } from './destination-types.ts';

/** A minimal configuration of every type, and where it leads. */
const EXAMPLES: Readonly<Record<string, { config: Record<string, string>; leadsTo: object }>> = {
  arize: {
    config: { apiKey: 'key', spaceKey: 'space', modelId: 'project' },
    leadsTo: {
      url: 'https://otlp.arize.com/v1/traces',
      headers: { authorization: 'key', api_key: 'key', space_id: 'space', 'arize-space-id': 'space' },
      resource: { model_id: 'project', 'openinference.project.name': 'project' },
    },
  },
  braintrust: {
    config: { apiKey: 'key', projectId: 'p1' },
    leadsTo: {
      url: 'https://api.braintrust.dev/otel/v1/traces',
      headers: { authorization: 'Bearer key', 'x-bt-parent': 'project_id:p1' },
    },
  },
  clickhouse: {
    config: { host: 'https://ch.example.com/', database: 'd', username: 'u', password: 'p w' },
    leadsTo: {
      writer: 'rows',
      url: 'https://ch.example.com',
      database: 'd',
      table: 'signalbox_traces',
      headers: { authorization: 'Basic dTpwIHc=' },
    },
  },
  datadog: {
    config: { apiKey: 'key', mlApp: 'app', url: 'https://api.datadoghq.eu' },
    leadsTo: {
      url: 'https://otlp.datadoghq.eu/v1/traces',
      headers: { 'dd-api-key': 'key', 'dd-otlp-source': 'llmobs' },
      resource: { 'service.name': 'app' },
    },
  },
  grafana: {
    config: { apiKey: 'key', instanceId: '12' },
    leadsTo: {
      url: 'https://otlp-gateway-prod-us-west-0.grafana.net/otlp/v1/traces',
      headers: { authorization: 'Basic MTI6a2V5' },
    },
  },
  langfuse: {
    config: { publicKey: 'pk', secretKey: 'sk' },
    leadsTo: {
      url: 'https://us.cloud.langfuse.com/api/public/otel/v1/traces',
      headers: { authorization: 'Basic cGs6c2s=', 'x-langfuse-ingestion-version': '4' },
      metadataPrefix: 'langfuse.trace.metadata.',
    },
  },
  langsmith: {
    config: { apiKey: 'key' },
    leadsTo: {
      url: 'https://api.smith.langchain.com/otel/v1/traces',
      headers: { 'x-api-key': 'key', 'langsmith-project': 'main' },
    },
  },
  newrelic: {
    config: { licenseKey: 'key', region: 'eu' },
    leadsTo: { url: 'https://otlp.eu01.nr-data.net/v1/traces', headers: { 'api-key': 'key' } },
  },
  opik: {
    config: { apiKey: 'key', workspace: 'w', projectName: 'p' },
    leadsTo: {
      url: 'https://www.comet.com/opik/api/v1/private/otel/v1/traces',
      headers: { authorization: 'key', 'comet-workspace': 'w', projectname: 'p' },
    },
  },
  'otel-collector': {
    config: { endpoint: 'https://collector.example.com/' },
    leadsTo: { url: 'https://collector.example.com/v1/traces', encoding: 'json', headers: {} },
  },
  posthog: {
    config: { apiKey: 'phc' },
    leadsTo: { url: 'https://us.i.posthog.com/i/v0/ai/otel', headers: { authorization: 'Bearer phc' } },
  },
  s3: {
    config: { bucketName: 'bucket', accessKeyId: 'id', secretAccessKey: 'secret', region: 'eu-west-1' },
    leadsTo: {
      writer: 'objects',
      url: 'https://s3.eu-west-1.amazonaws.com/bucket',
      signingKey: { accessKeyId: 'id', secretAccessKey: 'secret', region: 'eu-west-1' },
      prefix: '',
      pathTemplate: '{prefix}/{date}',
      headers: {},
    },
  },
  sentry: {
    config: {
      dsn: 'https://abc123@o1.ingest.sentry.io/2',
      otlpEndpoint: 'https://o1.ingest.sentry.io/api/2/integration/otlp/v1/traces',
    },
    leadsTo: {
      url: 'https://o1.ingest.sentry.io/api/2/integration/otlp/v1/traces',
      headers: { 'x-sentry-auth': 'sentry sentry_key=abc123' },
    },
  },
  weave: {
    config: { apiKey: 'key', entity: 'team', project: 'p' },
    leadsTo: {
      url: 'https://trace.wandb.ai/otel/v1/traces',
      headers: { 'wandb-api-key': 'key' },
      resource: { 'wandb.entity': 'team', 'wandb.project': 'p' },
    },
  },
  webhook: {
    config: { url: 'https://hooks.example.com/a?b=c', method: 'PUT' },
    leadsTo: { url: 'https://hooks.example.com/a?b=c', method: 'PUT', encoding: 'json', headers: {} },
  },
};

const OTLP = { writer: 'otlp', method: 'POST', encoding: 'protobuf', resource: {} };

it('serves all types of the API but those that it says it does not', () => {
  expect([...DESTINATION_TYPE_NAMES, ...Object.keys(UNSERVED_TYPES)].sort()).toEqual(
    'arize braintrust clickhouse datadog grafana langfuse langsmith newrelic opik otel-collector posthog ramp s3 sentry snowflake weave webhook'.split(
      ' ',
    ),
  );
});

describe.each(DESTINATION_TYPE_NAMES)('%s', (type) => {
  const { config, leadsTo } = EXAMPLES[type] ?? { config: {}, leadsTo: {} };

  it('leads to its address with its headers', () => {
    expect(configIssues(type, config, () => undefined)).toEqual([]);
    const target = targetOf(type, config);
    expect(target).toEqual(target.writer === 'otlp' ? { ...OTLP, ...leadsTo } : leadsTo);
  });

  it('takes further headers, which replace its own', () => {
    const headers = { Authorization: 'mine', 'X-Team': 'a' };
    expect(targetOf(type, { ...config, headers }).headers).toMatchObject({
      authorization: 'mine',
      'x-team': 'a',
    });
  });

  it('refuses a configuration that lacks what it needs', () => {
    const needed = Object.keys(DESTINATION_TYPES[type]?.members ?? {}).filter(
      (name) => DESTINATION_TYPES[type]?.members[name]?.isRequired,
    );
    expect(configIssues(type, {}, () => undefined)).toEqual(
      needed.map((name) => ({ path: `config.${name}`, message: 'is required' })),
    );
  });
});

it('sends a collector protobuf if it is asked to, and leaves a whole address as it is', () => {
  const config = { endpoint: 'http://collector:4318/v1/traces', protocol: 'protobuf' };
  expect(targetOf('otel-collector', config)).toMatchObject({
    url: 'http://collector:4318/v1/traces',
    encoding: 'protobuf',
  });
});

it('finds the bucket of a service like S3', () => {
  const { config } = EXAMPLES.s3 ?? { config: {} };
  expect(
    targetOf('s3', {
      ...config,
      endpoint: 'https://minio.example.com/',
      sessionToken: 'token',
      prefix: 'a/b',
    }),
  ).toMatchObject({
    url: 'https://minio.example.com/bucket',
    signingKey: { sessionToken: 'token' },
    prefix: 'a/b',
  });
});
