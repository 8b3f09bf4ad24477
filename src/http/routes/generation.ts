import Type, { type TSchema } from 'typebox';
import { explainRequestSchema, explanationSchema } from '../../contract/catalog/explanation.ts';
import { errorEnvelopeSchema, messagesErrorSchema } from '../../contract/envelopes/error-envelope.ts';
import type { ErrorStatus } from '../../contract/envelopes/error-meanings.ts';
import {
  chatResultSchema,
  compactionResultSchema,
  decisionsResultSchema,
  embeddingsResultSchema,
  inputTokensSchema,
  messagesResultSchema,
  responsesResultSchema,
  tokenCountSchema,
} from '../../contract/generations/generation-results.ts';
import type { ConversationFormat, FormatDialect } from '../../dialects/dialect.ts';
import { DIALECTS, REQUEST_FORMATS } from '../../dialects/dialects.ts';
import { encodeEnvelope } from '../../dialects/shared/answers/error-envelope.ts';
import { invalidRequest } from '../../ir/errors.ts';
import type { RequestFormat } from '../../ir/items.ts';
import { compileValidator, type Validator } from '../../kit/json/validate.ts';
import { countTokensHandler, GenerationRun, generateHandler, wholeHandler } from '../generation/generate.ts';
import { generationHeaderSchema, planningHeaderSchema } from '../generation/generation-headers.ts';
import type { Call, Route } from '../route.ts';
import { errors, ok } from './row-parts.ts';

const GENERATION_ERRORS: readonly ErrorStatus[] = [
  400, 401, 402, 403, 404, 408, 413, 415, 422, 429, 500, 502, 503, 524, 529,
];

/** Everything that runs a generation, or says what would become of one. */
export function generationRoutes(vendor: string): readonly Route[] {
  return [
    generationRoute(vendor, DIALECTS.responses, {
      path: '/responses',
      operationId: 'createResponse',
      summary: 'Create a response',
      result: responsesResultSchema,
      errorSchema: errorEnvelopeSchema,
    }),
    wholeRoute(vendor, DIALECTS.compaction, {
      path: '/responses/compact',
      operationId: 'compactResponse',
      summary: 'Compact a conversation: its user messages and a summary of the rest',
      result: compactionResultSchema,
    }),
    ...countingRoutes(vendor, DIALECTS.responses, {
      path: '/responses/input_tokens',
      operationId: 'countResponseTokens',
      summary: 'Count the prompt tokens of a response request',
      result: inputTokensSchema,
      errorSchema: errorEnvelopeSchema,
    }),
    generationRoute(vendor, DIALECTS.messages, {
      path: '/messages',
      operationId: 'createMessage',
      summary: 'Create a message',
      result: messagesResultSchema,
      errorSchema: messagesErrorSchema,
    }),
    ...countingRoutes(vendor, DIALECTS.messages, {
      path: '/messages/count_tokens',
      operationId: 'countMessageTokens',
      summary: 'Count the prompt tokens of a message request',
      result: tokenCountSchema,
      errorSchema: messagesErrorSchema,
    }),
    generationRoute(vendor, DIALECTS.chat, {
      path: '/chat/completions',
      operationId: 'createChatCompletion',
      summary: 'Create a chat completion',
      result: chatResultSchema,
      errorSchema: errorEnvelopeSchema,
    }),
    wholeRoute(vendor, DIALECTS.embeddings, {
      path: '/embeddings',
      operationId: 'createEmbeddings',
      summary: 'Create embeddings: a vector for each text',
      result: embeddingsResultSchema,
    }),
    wholeRoute(vendor, DIALECTS.decisions, {
      path: '/decisions',
      operationId: 'createDecision',
      summary: 'Answer questions about a content with probabilities',
      result: decisionsResultSchema,
    }),
    wholeRoute(vendor, DIALECTS.decisions, {
      path: '/systemone',
      operationId: 'createSystemOneDecision',
      summary: 'The same, at the path of System One',
      result: decisionsResultSchema,
    }),
    {
      method: 'POST',
      mount: 'api',
      path: '/routing/explain',
      operationId: 'explainRouting',
      summary: 'Explain the routing of a request; no upstream is called, nothing is charged',
      tag: 'Routing',
      permission: 'routing.explain',
      rateClass: 'management',
      request: { query: null, headers: planningHeaderSchema(vendor), body: explainRequestSchema },
      responses: {
        200: ok(explanationSchema),
        ...errors(errorEnvelopeSchema, [400, 401, 404, 408, 413, 415, 422, 500, 503]),
      },
      encodeError: encodeEnvelope,
      handler: explainHandler(vendor),
    },
  ];
}

/** What the routes of formats differ in. */
interface GenerationRow {
  readonly path: string;
  readonly operationId: string;
  readonly summary: string;
  readonly result: TSchema;
  readonly errorSchema: TSchema;
}

function generationRoute(vendor: string, dialect: ConversationFormat, row: GenerationRow): Route {
  return {
    method: 'POST',
    mount: 'api',
    path: row.path,
    operationId: row.operationId,
    summary: row.summary,
    tag: 'Generation',
    permission: 'generations.run',
    rateClass: 'generation',
    format: dialect.name,
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

/** The route of a format whose answers are always whole. */
function wholeRoute(
  vendor: string,
  dialect: FormatDialect,
  { result, ...row }: Omit<GenerationRow, 'errorSchema'>,
): Route {
  return {
    ...row,
    method: 'POST',
    mount: 'api',
    tag: 'Generation',
    permission: 'generations.run',
    rateClass: 'generation',
    format: dialect.name,
    request: {
      query: null,
      headers: generationHeaderSchema(vendor),
      body: dialect.inbound.requestSchema(vendor),
    },
    responses: { 200: ok(result), ...errors(errorEnvelopeSchema, GENERATION_ERRORS) },
    encodeError: encodeEnvelope,
    handler: wholeHandler(dialect),
  };
}

/** The route that only counts the tokens of a body, in a format that has one. */
function countingRoutes(
  vendor: string,
  { name, inbound }: ConversationFormat,
  row: GenerationRow,
): readonly Route[] {
  if (inbound.counting === undefined) return [];
  return [
    {
      method: 'POST',
      mount: 'api',
      path: row.path,
      operationId: row.operationId,
      summary: row.summary,
      tag: 'Generation',
      permission: 'generations.run',
      rateClass: 'generation',
      request: {
        query: null,
        headers: planningHeaderSchema(vendor),
        body: inbound.counting.requestSchema(vendor),
      },
      responses: { 200: ok(row.result), ...errors(row.errorSchema, GENERATION_ERRORS) },
      encodeError: (error, context) => inbound.encodeError(error, context),
      handler: countTokensHandler(name, inbound.counting),
    },
  ];
}

/** The handler of `POST /routing/explain`: checks the body by the schema of the format that it names. */
function explainHandler(vendor: string): (call: Call<'routing.explain'>) => Promise<void> {
  const validators = new Map<RequestFormat, Validator>(
    REQUEST_FORMATS.map(({ name, inbound }) => [name, compileValidator(inbound.requestSchema(vendor))]),
  );
  return async (call) => {
    const { format: named, ...body } = call.body;
    const format = (named ?? 'responses') as RequestFormat;
    const issues = validators.get(format)?.issuesOf(body) ?? [];
    if (issues.length > 0) throw invalidRequest(issues);
    const { services, exchange } = call;
    const run = new GenerationRun({ ...call, body }, format);
    try {
      exchange.reply.json(200, { data: await services.gateway.explain(run.input) });
    } finally {
      run.end();
    }
  };
}
