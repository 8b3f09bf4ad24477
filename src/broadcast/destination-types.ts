import type { JsonObject } from '../kit/json/json.ts';
import type { DestinationTypeName } from '../ports/following/destinations.ts';
import {
  address,
  choice,
  formed,
  HEADERS,
  optional,
  secret,
  sqlName,
  text,
  wholeAddress,
} from './config-members.ts';
import type { DestinationTarget } from './destination-target.ts';
import { basic, type DestinationType, otlp, tracesAt, trimmed } from './destination-type.ts';
import { HOSTED_SERVICES } from './hosted-services.ts';
import { PATH_TEMPLATE } from './object-folder.ts';

const TYPES: Readonly<Record<DestinationTypeName, DestinationType>> = {
  ...HOSTED_SERVICES,
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
    target: ({ host = '', database = '', table = '', username = '', password = '' }, headers) => ({
      writer: 'rows',
      url: trimmed(host),
      database,
      table,
      headers: { authorization: basic(username, password), ...headers },
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
    ) => ({
      writer: 'objects',
      url: `${trimmed(rest.endpoint || `https://s3.${region}.amazonaws.com`)}/${bucketName}`,
      signingKey: { accessKeyId, secretAccessKey, region, ...(sessionToken !== '' && { sessionToken }) },
      prefix: rest.prefix ?? '',
      pathTemplate: rest.pathTemplate ?? '',
      headers,
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

/** THE table: every type of destination by its name in the API. */
export const DESTINATION_TYPES: Readonly<Record<string, DestinationType>> = TYPES;

/** Types of the API that no writer serves, and why, in words that follow "it". */
export const UNSERVED_TYPES: Readonly<Record<string, string>> = {
  ramp: 'publishes no format that traces could be sent in',
  snowflake: 'takes neither OTLP nor objects; let it read those of an s3 destination',
};

/** Where a destination leads. `config`: complete, with its secrets, and checked. */
export function targetOf(type: string, config: JsonObject): DestinationTarget {
  const row = DESTINATION_TYPES[type];
  if (row === undefined) throw new Error(`there is no destination type ${type}`);
  const values = Object.fromEntries(
    Object.entries(row.members).map(([name, { fallback = '' }]) => [name, config[name] ?? fallback]),
  ) as Record<string, string>;
  const headers = Object.entries((config.headers ?? {}) as Record<string, string>);
  return row.target(values, Object.fromEntries(headers.map(([name, value]) => [name.toLowerCase(), value])));
}
