import { errorEnvelopeSchema } from '../../contract/envelopes/error-envelope.ts';
import {
  type GenerationQuery,
  generationContentReplySchema,
  generationObject,
  generationQuerySchema,
  generationReplySchema,
} from '../../contract/generations/generation-record.ts';
import { writeJson } from '../../kit/json/stringify-sliced.ts';
import type { LogViewer } from '../../manage/generations/generation-log.ts';
import type { ContentViewer } from '../../manage/generations/generations.ts';
import { isOfSession } from '../access/authenticate.ts';
import type { Call, Route } from '../route.ts';
import { callerOf, errors, NOTHING_DECLARED, ok, READ } from './row-parts.ts';

/** Records of generations. */
export const GENERATION_RECORD_ROUTES: readonly Route[] = [
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
    handler: async (call) => {
      const { generations } = call.services;
      const generation = await generations.get(viewerOf(call), idOf(call));
      const prices = await generations.pricesOf(generation);
      const { traceUrl } = call.settings;
      call.exchange.reply.json(200, { data: generationObject(generation, { prices, traceUrl }) });
    },
  },
  {
    ...READ,
    path: '/generation/content',
    operationId: 'getGenerationContent',
    summary: 'What was said in a generation of the workspace of the key, if the workspace has that kept',
    tag: 'Generations',
    auth: 'any',
    rateClass: 'management',
    request: { ...NOTHING_DECLARED, query: generationQuerySchema },
    responses: {
      200: ok(generationContentReplySchema),
      ...errors(errorEnvelopeSchema, [400, 401, 404, 500, 503]),
    },
    handler: async (call) => {
      const content = await call.services.generations.contentOf(contentViewerOf(call), idOf(call));
      call.exchange.reply.jsonText(200, await writeJson({ data: content }));
    },
  },
];

/** A key sees the records of its account; in the console, a key that is no management key sees its own alone. */
function viewerOf(call: Call): LogViewer {
  const { accountId, key } = callerOf(call);
  const seesAll = key.isManagement || !isOfSession(call.exchange.request, call.services);
  return { accountId, keyHash: seesAll ? null : key.hash };
}

/** A workspace is a boundary for content: other keys than management keys read that of their own workspace alone. */
function contentViewerOf(call: Call): ContentViewer {
  const { key, workspaceId } = callerOf(call);
  return { ...viewerOf(call), workspaceId: key.isManagement ? null : workspaceId };
}

function idOf({ query }: Call): string {
  return (query as GenerationQuery).id;
}
