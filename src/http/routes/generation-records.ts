import { errorEnvelopeSchema } from '../../contract/envelopes/error-envelope.ts';
import {
  generationContentReplySchema,
  generationObject,
  generationQuerySchema,
  generationReplySchema,
} from '../../contract/generations/generation-record.ts';
import { writeJson } from '../../kit/json/stringify-sliced.ts';
import type { ContentViewer } from '../../manage/generations/generations.ts';
import type { LogViewer } from '../../manage/generations/log-filter.ts';
import { isOfSession } from '../access/authenticate.ts';
import { type Call, type Route, route } from '../route.ts';
import { errors, NOTHING_DECLARED, ok, READ } from './row-parts.ts';

export const GENERATION_RECORD_ROUTES: readonly Route[] = [
  route({
    ...READ,
    path: '/generation',
    operationId: 'getGeneration',
    summary: 'What became of a generation, and what it cost',
    permission: 'generations.read',
    tag: 'Generations',
    rateClass: 'management',
    request: { ...NOTHING_DECLARED, query: generationQuerySchema },
    responses: {
      200: ok(generationReplySchema),
      ...errors(errorEnvelopeSchema, [400, 401, 404, 500, 503]),
    },
    handler: async (call) => {
      const { generations } = call.services;
      const generation = await generations.get(viewerOf(call), call.query.id);
      const prices = await generations.pricesOf(generation);
      const { traceUrl } = call.settings;
      call.exchange.reply.json(200, { data: generationObject(generation, { prices, traceUrl }) });
    },
  }),
  route({
    ...READ,
    path: '/generation/content',
    operationId: 'getGenerationContent',
    summary: 'What was said in a generation of the workspace of the key, if the workspace has that kept',
    permission: 'generations.read',
    tag: 'Generations',
    rateClass: 'management',
    request: { ...NOTHING_DECLARED, query: generationQuerySchema },
    responses: {
      200: ok(generationContentReplySchema),
      ...errors(errorEnvelopeSchema, [400, 401, 404, 500, 503]),
    },
    handler: async (call) => {
      const content = await call.services.generations.contentOf(contentViewerOf(call), call.query.id);
      call.exchange.reply.jsonText(200, await writeJson({ data: content }));
    },
  }),
];

/** A key sees the records of its account; in the console, a key that is no management key sees its own alone. */
function viewerOf(call: RecordCall): LogViewer {
  const { accountId, key } = call.caller;
  const seesAll = key.isManagement || !isOfSession(call.exchange.request, call.services);
  return { accountId, keyHash: seesAll ? null : key.hash };
}

/** A workspace is a boundary for content: other keys than management keys read that of their own workspace alone. */
function contentViewerOf(call: RecordCall): ContentViewer {
  const { key, workspaceId } = call.caller;
  return { ...viewerOf(call), workspaceId: key.isManagement ? null : workspaceId };
}

/** What a request of a record tells of who asks. */
type RecordCall = Pick<Call<'generations.read'>, 'caller' | 'exchange' | 'services'>;
