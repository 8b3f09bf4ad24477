import Type, { type TSchema } from 'typebox';
import { currentKeySchema } from '../../contract/current-key.ts';
import { endpointListSchema } from '../../contract/endpoint.ts';
import { errorEnvelopeSchema, messagesErrorSchema } from '../../contract/error-envelope.ts';
import { explainRequestSchema, explanationSchema } from '../../contract/explanation.ts';
import {
  generationContentReplySchema,
  generationQuerySchema,
  generationReplySchema,
} from '../../contract/generation.ts';
import {
  chatResultSchema,
  messagesResultSchema,
  responsesResultSchema,
  tokenCountSchema,
} from '../../contract/generation-results.ts';
import { healthSchema } from '../../contract/health.ts';
import { modelCountSchema, modelListSchema, modelReplySchema } from '../../contract/model.ts';
import { modelCountQuerySchema, modelsQuerySchema } from '../../contract/models-query.ts';
import { providerListSchema } from '../../contract/provider.ts';
import type { FormatDialect } from '../../dialects/dialect.ts';
import { DIALECTS } from '../../dialects/dialects.ts';
import { countTokensSchema } from '../../dialects/messages/wire.ts';
import { encodeEnvelope } from '../../dialects/shared/answers/error-envelope.ts';
import { GatewayError } from '../../ir/errors.ts';
import { EXPOSITION_TYPE } from '../../kit/metrics/exposition.ts';
import { explainHandler } from '../generation/explain.ts';
import { countTokensHandler, generateHandler } from '../generation/generate.ts';
import { generationHeaderSchema } from '../generation/generation-headers.ts';
import { showGeneration, showGenerationContent } from '../generation/generation-routes.ts';
import { type ErrorStatus, errors, ok } from '../openapi/route-responses.ts';
import { unavailable } from '../server/unavailable.ts';
import { analyticsRoutes } from './analytics-route-table.ts';
import {
  countModels,
  listEndpoints,
  listModels,
  listModelsForKey,
  listProviders,
  showModel,
} from './catalog-routes.ts';
import { DATASET_ROUTES } from './dataset-route-table.ts';
import { FILE_ROUTES } from './file-route-table.ts';
import { showCurrentKey } from './key-routes.ts';
import { MANAGEMENT_ROUTES } from './management-routes.ts';
import type { Handler, Route } from './route.ts';

const GENERATION_ERRORS: readonly ErrorStatus[] = [
  400, 401, 402, 403, 404, 408, 413, 415, 422, 429, 500, 502, 503, 524, 529,
];

const NOTHING_DECLARED = { query: null, headers: null, body: null } as const;

/** A public catalogue page or another read that belongs to no generation format. */
const READ = {
  method: 'GET',
  mount: 'api',
  rateClass: 'public',
  encodeError: encodeEnvelope,
} as const;

const PROBE = {
  ...READ,
  mount: 'root',
  tag: 'Operation',
  auth: 'none',
  rateClass: 'probe',
  request: NOTHING_DECLARED,
} as const;

/** THE table: every route of the gateway, for one vendor word. */
export function routesFor(vendor: string): readonly Route[] {
  const currentKey: Route = {
    ...READ,
    path: '/key',
    operationId: 'getCurrentKey',
    summary: 'The key of this request',
    tag: 'Keys',
    auth: 'any',
    rateClass: 'management',
    request: NOTHING_DECLARED,
    responses: {
      200: ok(Type.Object({ data: currentKeySchema })),
      ...errors(errorEnvelopeSchema, [401, 500]),
    },
    handler: showCurrentKey,
  };
  return [
    generationRoute(vendor, DIALECTS.responses, {
      path: '/responses',
      operationId: 'createResponse',
      summary: 'Create a response',
      result: responsesResultSchema,
      errorSchema: errorEnvelopeSchema,
    }),
    generationRoute(vendor, DIALECTS.messages, {
      path: '/messages',
      operationId: 'createMessage',
      summary: 'Create a message',
      result: messagesResultSchema,
      errorSchema: messagesErrorSchema,
    }),
    {
      method: 'POST',
      mount: 'api',
      path: '/messages/count_tokens',
      operationId: 'countMessageTokens',
      summary: 'Count the prompt tokens of a message request',
      tag: 'Generation',
      auth: 'inference',
      rateClass: 'generation',
      request: { query: null, headers: generationHeaderSchema(vendor), body: countTokensSchema(vendor) },
      responses: { 200: ok(tokenCountSchema), ...errors(messagesErrorSchema, GENERATION_ERRORS) },
      encodeError: (error, context) => DIALECTS.messages.inbound.encodeError(error, context),
      handler: countTokensHandler,
    },
    generationRoute(vendor, DIALECTS.chat, {
      path: '/chat/completions',
      operationId: 'createChatCompletion',
      summary: 'Create a chat completion',
      result: chatResultSchema,
      errorSchema: errorEnvelopeSchema,
    }),
    {
      method: 'POST',
      mount: 'api',
      path: '/routing/explain',
      operationId: 'explainRouting',
      summary: 'What would become of a request; nobody is called, nothing is charged',
      tag: 'Routing',
      auth: 'any',
      rateClass: 'management',
      request: { query: null, headers: generationHeaderSchema(vendor), body: explainRequestSchema },
      responses: {
        200: ok(explanationSchema),
        ...errors(errorEnvelopeSchema, [400, 401, 404, 408, 413, 415, 422, 500, 503]),
      },
      encodeError: encodeEnvelope,
      handler: explainHandler(vendor),
    },
    {
      ...READ,
      path: '/generation',
      operationId: 'getGeneration',
      summary: 'What became of a generation, and what it cost',
      tag: 'Generations',
      auth: 'any',
      rateClass: 'management',
      request: { ...NOTHING_DECLARED, query: generationQuerySchema },
      responses: {
        200: ok(generationReplySchema),
        ...errors(errorEnvelopeSchema, [400, 401, 404, 500, 503]),
      },
      handler: showGeneration,
    },
    {
      ...READ,
      path: '/generation/content',
      operationId: 'getGenerationContent',
      summary: 'What was said in a generation, where its workspace has that kept',
      tag: 'Generations',
      auth: 'any',
      rateClass: 'management',
      request: { ...NOTHING_DECLARED, query: generationQuerySchema },
      responses: {
        200: ok(generationContentReplySchema),
        ...errors(errorEnvelopeSchema, [400, 401, 404, 500, 503]),
      },
      handler: showGenerationContent,
    },
    {
      ...READ,
      path: '/models',
      operationId: 'listModels',
      summary: 'Models that can be asked for',
      tag: 'Catalogue',
      auth: 'none',
      request: { ...NOTHING_DECLARED, query: modelsQuerySchema },
      responses: { 200: ok(modelListSchema), ...errors(errorEnvelopeSchema, [400, 500]) },
      handler: listModels,
    },
    {
      ...READ,
      path: '/models/count',
      operationId: 'countModels',
      summary: 'How many models there are',
      tag: 'Catalogue',
      auth: 'none',
      request: { ...NOTHING_DECLARED, query: modelCountQuerySchema },
      responses: { 200: ok(modelCountSchema), ...errors(errorEnvelopeSchema, [400, 500]) },
      handler: countModels,
    },
    {
      ...READ,
      path: '/models/user',
      operationId: 'listModelsForKey',
      summary: 'Models that the key may use',
      tag: 'Catalogue',
      auth: 'any',
      request: { ...NOTHING_DECLARED, query: modelsQuerySchema },
      responses: { 200: ok(modelListSchema), ...errors(errorEnvelopeSchema, [400, 401, 500]) },
      handler: listModelsForKey,
    },
    {
      ...READ,
      path: '/model/{author}/{slug}',
      operationId: 'getModel',
      summary: 'One model, by id or alias',
      tag: 'Catalogue',
      auth: 'none',
      request: NOTHING_DECLARED,
      responses: { 200: ok(modelReplySchema), ...errors(errorEnvelopeSchema, [404, 500]) },
      handler: showModel,
    },
    {
      ...READ,
      path: '/models/{author}/{slug}/endpoints',
      operationId: 'listEndpoints',
      summary: 'The endpoints of one model',
      tag: 'Catalogue',
      auth: 'optional',
      request: NOTHING_DECLARED,
      responses: { 200: ok(endpointListSchema), ...errors(errorEnvelopeSchema, [404, 500]) },
      handler: listEndpoints,
    },
    {
      ...READ,
      path: '/providers',
      operationId: 'listProviders',
      summary: 'Providers that serve models',
      tag: 'Catalogue',
      auth: 'none',
      request: NOTHING_DECLARED,
      responses: { 200: ok(providerListSchema), ...errors(errorEnvelopeSchema, [500]) },
      handler: listProviders,
    },
    currentKey,
    { ...currentKey, path: '/auth/key', operationId: 'getCurrentKeyAlias' },
    ...FILE_ROUTES,
    ...DATASET_ROUTES,
    ...analyticsRoutes(vendor),
    ...MANAGEMENT_ROUTES,
    {
      ...READ,
      path: '/openapi.json',
      operationId: 'getInterfaceDescription',
      summary: 'This description',
      tag: 'Operation',
      auth: 'none',
      request: NOTHING_DECLARED,
      responses: { 200: ok(Type.Object({ openapi: Type.String() })), ...errors(errorEnvelopeSchema, [500]) },
      handler: ({ exchange, server }) => exchange.reply.jsonText(200, server.document()),
    },
    {
      ...PROBE,
      path: '/docs',
      operationId: 'getInterfacePage',
      summary: 'This description as a page',
      rateClass: 'public',
      responses: {
        200: { description: 'The page', content: { 'text/html': Type.String() } },
        ...errors(errorEnvelopeSchema, [500]),
      },
      handler: showPage,
    },
    {
      ...PROBE,
      path: '/metrics',
      operationId: 'getMetrics',
      summary:
        'Figures of this process, in the text format of Prometheus, for management keys of the first account',
      auth: 'management',
      isOpen: ({ areMetricsPublic }) => areMetricsPublic,
      rateClass: 'management',
      responses: {
        200: { description: 'The figures', content: { 'text/plain': Type.String() } },
        ...errors(errorEnvelopeSchema, [401, 403, 500, 503]),
      },
      handler: showMetrics,
    },
    {
      ...PROBE,
      path: '/healthz',
      operationId: 'getHealth',
      summary: 'Whether the process is alive',
      responses: { 200: ok(healthSchema), ...errors(errorEnvelopeSchema, [500]) },
      handler: ({ exchange }) => exchange.reply.json(200, { status: 'ok' }),
    },
    {
      ...PROBE,
      path: '/readyz',
      operationId: 'getReadiness',
      summary: 'Whether the gateway takes requests',
      responses: {
        200: ok(healthSchema),
        503: {
          description: 'Starting, draining, or to be restarted',
          content: { 'application/json': errorEnvelopeSchema },
        },
        ...errors(errorEnvelopeSchema, [500]),
      },
      handler: showReadiness,
    },
  ];
}

function generationRoute(
  vendor: string,
  dialect: FormatDialect,
  row: {
    readonly path: string;
    readonly operationId: string;
    readonly summary: string;
    readonly result: TSchema;
    readonly errorSchema: TSchema;
  },
): Route {
  return {
    method: 'POST',
    mount: 'api',
    path: row.path,
    operationId: row.operationId,
    summary: row.summary,
    tag: 'Generation',
    auth: 'inference',
    rateClass: 'generation',
    request: {
      query: null,
      headers: generationHeaderSchema(vendor),
      body: dialect.inbound.requestSchema(vendor),
    },
    responses: {
      200: {
        description: 'The answer; with `stream` true its events, one by one',
        content: { 'application/json': row.result, 'text/event-stream': Type.String() },
      },
      ...errors(row.errorSchema, GENERATION_ERRORS),
    },
    encodeError: (error, context) => dialect.inbound.encodeError(error, context),
    handler: generateHandler(dialect),
  };
}

/** They speak of all accounts: those of others are not for every tenant to read. */
const showMetrics: Handler = ({ exchange, services, caller }) => {
  if (caller !== undefined && caller.accountId !== services.firstAccountId) {
    throw new GatewayError('permission', 'Only management keys of the first account can read the metrics');
  }
  exchange.reply.text(services.metrics(), EXPOSITION_TYPE);
};

const showPage: Handler = ({ exchange, server }) => {
  const { html, contentSecurityPolicy } = server.page();
  exchange.reply.html(html, {
    'Content-Security-Policy': contentSecurityPolicy,
    'Cache-Control': 'no-cache',
    'Referrer-Policy': 'no-referrer',
  });
};

const showReadiness: Handler = ({ exchange, server, services }) => {
  if (server.state !== 'ready') throw unavailable(`The gateway is ${server.state}`);
  const fault = services.fault?.() ?? null;
  if (fault !== null) throw unavailable(`Not ready: ${fault}`);
  exchange.reply.json(200, { status: 'ok' });
};
