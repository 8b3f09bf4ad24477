import type { TObject, TSchema } from 'typebox';
import { type KeyKind, PERMISSIONS } from '../../endpoints/permissions.ts';
import { isJsonObject, type Json, type JsonObject } from '../../kit/json/json.ts';
import { programVersion } from '../../kit/program-version.ts';
import { metadataHeaders } from '../generation/generation-headers.ts';
import type { ListedRoute, RouteExample, RouteResponse } from '../route.ts';
import { NAMED_SCHEMAS } from './named-schemas.ts';
import { TAG_DESCRIPTIONS } from './tags.ts';

/** An OpenAPI 3.1 document. */
export interface OpenApiDocument extends JsonObject {
  openapi: '3.1.0';
  paths: JsonObject;
  components: JsonObject;
}

/** Keywords of our own that no reader of the document needs. */
const PRIVATE_KEYWORDS: ReadonlySet<string> = new Set([
  'explain',
  'explainPattern',
  'isRepeated',
  'discriminator',
  'open',
  'unlisted',
]);

/** Describes a route table. Everything in it comes from the rows. Rows that only refuse are left out. */
export function describeRoutes(
  table: readonly ListedRoute[],
  settings: { readonly vendor: string; readonly basePath: string },
): OpenApiDocument {
  const routes = table.filter(({ example }) => example !== null);
  const names = new Map<unknown, string>(
    Object.entries(NAMED_SCHEMAS).map(([name, schema]) => [schema, name] as const),
  );
  for (const { operationId, request } of routes) {
    if (request.body !== null) names.set(request.body, `${capitalized(operationId)}Request`);
  }
  const headerNames = new Map(metadataHeaders(settings.vendor).map((name) => [name.toLowerCase(), name]));
  const paths: JsonObject = {};
  for (const route of routes) {
    paths[route.path] = {
      ...(route.mount === 'root' && { servers: [{ url: '/' }] }),
      ...(paths[route.path] as JsonObject | undefined),
      [route.method.toLowerCase()]: operationOf(route, names, headerNames),
    };
  }
  const schemas = Object.fromEntries(
    [...names].map(([schema, name]) => [name, plainMembers(schema as JsonObject, names)]),
  );
  return {
    openapi: '3.1.0',
    info: {
      title: 'Signalbox',
      version: programVersion(),
      summary: 'A self-hosted model routing gateway, compatible with the APIs of OpenAI and Anthropic.',
      description:
        `Paths answer under \`${settings.basePath}\` and under \`/v1\`, with or without a trailing slash. ` +
        'Probes, metrics and the page of this description answer at the root of the server only.',
      contact: { name: 'The operator of this gateway' },
      license: { name: 'Apache License 2.0', identifier: 'Apache-2.0' },
    },
    servers: [...new Set([settings.basePath, '/v1'])].map((url) => ({ url })),
    tags: [...new Set(routes.map(({ tag }) => tag))].map((name) => ({
      name,
      description: TAG_DESCRIPTIONS[name] ?? '',
    })),
    paths,
    components: {
      schemas,
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'An API key of this gateway.' },
        apiKey: {
          type: 'apiKey',
          in: 'header',
          name: 'x-api-key',
          description: 'The same key, when there is no Authorization header.',
        },
      },
    },
  };
}

const NEEDED: readonly JsonObject[] = [{ bearer: [] }, { apiKey: [] }];

type HttpKeyKind = Exclude<KeyKind, 'machine'>;

/** Security requirements by kind of key; an empty entry means that none is needed. */
const SECURITY: Readonly<Record<HttpKeyKind, readonly JsonObject[]>> = {
  none: [],
  optional: [{}, ...NEEDED],
  any: NEEDED,
  inference: NEEDED,
  management: NEEDED,
  operator: NEEDED,
};

const KEY_NOTES: Readonly<Record<HttpKeyKind, string>> = {
  none: 'Needs no key.',
  optional: 'Needs no key; with a valid one it tells more.',
  any: 'Needs any valid key.',
  inference: 'Needs an API key; management keys are refused.',
  management: 'Needs a management key.',
  operator: 'Needs a management key of the first account.',
};

function operationOf(
  route: ListedRoute,
  names: ReadonlyMap<unknown, string>,
  headerNames: ReadonlyMap<string, string>,
): JsonObject {
  const { query, headers, body, form } = route.request;
  const example = route.example ?? { answer: null };
  const parameters = [
    ...[...route.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => ({
      name,
      in: 'path',
      required: true,
      schema: { type: 'string' },
      ...(example.params?.[name] !== undefined && { example: example.params[name] }),
    })),
    ...parametersOf('query', query, names, new Map()).map((parameter) =>
      withExample(parameter, example.query),
    ),
    ...parametersOf('header', headers, names, headerNames),
  ];
  return {
    operationId: route.operationId,
    summary: route.summary,
    description: KEY_NOTES[PERMISSIONS[route.permission]],
    tags: [route.tag],
    security: [...SECURITY[PERMISSIONS[route.permission]]],
    ...(parameters.length > 0 && { parameters }),
    ...(body !== null && {
      requestBody: {
        required: true,
        content: { 'application/json': { schema: plain(body, names), ...bodyExamplesOf(example) } },
      },
    }),
    ...(form !== undefined && {
      requestBody: { required: true, content: { 'multipart/form-data': { schema: plain(form, names) } } },
    }),
    responses: Object.fromEntries(
      Object.entries(route.responses).map(([status, response]) => [
        status,
        responseOf(route, status, response, names),
      ]),
    ),
  };
}

/** Query values are text in an example; numbers and booleans are shown as such. */
function withExample(parameter: JsonObject, values: RouteExample['query'] = {}): JsonObject {
  const value = values[String(parameter.name)];
  if (value === undefined) return parameter;
  const { type, anyOf = [] } = parameter.schema as { readonly type?: string; readonly anyOf?: JsonObject[] };
  const types = type === undefined ? anyOf.map((each) => each.type) : [type];
  const isText = !types.some((each) => each === 'boolean' || each === 'integer' || each === 'number');
  return { ...parameter, example: isText ? value : JSON.parse(value) };
}

/** One body is an `example`; several are `examples`, each with a summary. */
function bodyExamplesOf({ body, otherBodies }: RouteExample): JsonObject {
  if (body === undefined || otherBodies === undefined) return exampleOf(body);
  const others = Object.entries(otherBodies).map(
    ([summary, value], index) => [`example-${index + 2}`, { summary, value }] as const,
  );
  return { examples: { 'example-1': { value: body }, ...Object.fromEntries(others) } };
}

function exampleOf(example: Json | undefined): JsonObject {
  return example === undefined ? {} : { example };
}

function parametersOf(
  place: 'query' | 'header',
  schema: TObject | null,
  names: ReadonlyMap<unknown, string>,
  displayNames: ReadonlyMap<string, string>,
): JsonObject[] {
  return Object.entries(schema?.properties ?? {}).map(([name, property]) => {
    const { isRepeated = false } = property as { readonly isRepeated?: boolean };
    const { description, deprecated, ...rest } = plainMembers(property as unknown as JsonObject, names);
    return {
      name: displayNames.get(name) ?? name,
      in: place,
      required: (schema?.required as readonly string[] | undefined)?.includes(name) ?? false,
      ...(description !== undefined && { description }),
      ...(deprecated === true && { deprecated }),
      ...(rest.type === 'array' && { style: 'form', explode: isRepeated }),
      schema: rest,
    };
  });
}

const header = (description: string): JsonObject => ({ description, schema: { type: 'string' } });

const RETRY_AFTER = {
  'Retry-After': header('Seconds after which to try again, at most 300; not always there.'),
};

/** Headers that replies of a status have besides the usual ones. */
const STATUS_HEADERS: Readonly<Record<string, JsonObject>> = {
  429: {
    ...RETRY_AFTER,
    'X-RateLimit-Limit': header('Requests that the window allows; where a limit of this gateway was met.'),
    'X-RateLimit-Remaining': header('Requests that are left in the window.'),
    'X-RateLimit-Reset': header('When the window ends, epoch milliseconds.'),
  },
  503: RETRY_AFTER,
};

function responseOf(
  route: ListedRoute,
  status: string,
  response: RouteResponse,
  names: ReadonlyMap<unknown, string>,
): JsonObject {
  return {
    description: response.description,
    headers: {
      ...STATUS_HEADERS[status],
      'request-id': header('Names this request in the log.'),
      ...(status.startsWith('2') && headersOf(route)),
      ...(route.rateClass === 'generation' && {
        'X-Generation-Id': header('Id of the generation.'),
        'Server-Timing': header('Milliseconds: auth, plan, upstream, gateway.'),
      }),
    },
    content: Object.fromEntries(
      Object.entries(response.content).map(([type, schema]) => [
        type,
        {
          schema: plain(schema, names),
          // The example is a whole answer, not a stream of events.
          ...(status.startsWith('2') && type !== 'text/event-stream' && exampleOf(route.example?.answer)),
        },
      ]),
    ),
  };
}

function headersOf({ responseHeaders = {} }: ListedRoute): JsonObject {
  return Object.fromEntries(Object.entries(responseHeaders).map(([name, says]) => [name, header(says)]));
}

/** A schema as the document has it: by reference where it has a name. */
function plain(schema: TSchema, names: ReadonlyMap<unknown, string>): JsonObject {
  return plainValue(schema as unknown as Json, names) as JsonObject;
}

function plainValue(value: Json, names: ReadonlyMap<unknown, string>): Json {
  if (Array.isArray(value)) return value.map((member) => plainValue(member, names));
  if (!isJsonObject(value)) return value;
  const name = names.get(value);
  return name === undefined ? plainMembers(value, names) : { $ref: `#/components/schemas/${name}` };
}

function plainMembers(value: JsonObject, names: ReadonlyMap<unknown, string>): JsonObject {
  return withoutIdleChoice(
    Object.fromEntries(
      Object.entries(value)
        .filter(([key, member]) => member !== undefined && !PRIVATE_KEYWORDS.has(key))
        .map(([key, member]) => [key, plainValue(member as Json, names)]),
    ),
  );
}

/** A choice of one is that one; a choice that includes everything is none. */
function withoutIdleChoice(schema: JsonObject): JsonObject {
  const { anyOf, ...rest } = schema;
  if (!Array.isArray(anyOf)) return schema;
  if (anyOf.some((branch) => isJsonObject(branch) && Object.keys(branch).length === 0)) return rest;
  const [only, ...others] = anyOf;
  return others.length === 0 && isJsonObject(only) ? { ...only, ...rest } : schema;
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
