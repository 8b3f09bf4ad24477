import { conversationsQuerySchema, conversationsReplySchema } from '../contract/generations/conversation.ts';
import {
  generationCountsQuerySchema,
  generationCountsReplySchema,
} from '../contract/generations/generation-log.ts';
import {
  runningGenerationsQuerySchema,
  runningGenerationsReplySchema,
} from '../contract/generations/running-generation.ts';
import type { LogViewer } from '../manage/generations/log-filter.ts';
import type { Caller } from '../ports/tenancy/caller.ts';
import { type AnyEndpoint, endpoint } from './endpoint.ts';

const LOG = { method: 'GET', tag: 'Generations', rateClass: 'management' } as const;

/** What the log of generations tells in one reply. */
export const GENERATION_LOG_ENDPOINTS: readonly AnyEndpoint[] = [
  endpoint({
    ...LOG,
    path: '/generations/counts',
    operationId: 'countGenerations',
    summary: 'How many generations the log has, over time',
    permission: 'generations.read',
    query: generationCountsQuerySchema,
    reply: generationCountsReplySchema,
    readsEvents: true,
    run: async ({ services, caller, query, signal }) => ({
      data: await services.generationLog.counts(viewerOf(caller), query, signal),
    }),
  }),
  endpoint({
    ...LOG,
    path: '/generations/running',
    operationId: 'listRunningGenerations',
    summary: 'Generations that have begun and not ended, newest first',
    permission: 'generations.read',
    query: runningGenerationsQuerySchema,
    reply: runningGenerationsReplySchema,
    refusals: [503],
    run: ({ services, caller, query }) => services.runningGenerations.list(viewerOf(caller), query),
  }),
  endpoint({
    ...LOG,
    path: '/generations/conversations',
    operationId: 'listConversations',
    summary: 'Conversations: generations with the same session id, with their sums',
    permission: 'generations.read',
    query: conversationsQuerySchema,
    reply: conversationsReplySchema,
    readsEvents: true,
    run: ({ services, caller, query, signal }) =>
      services.conversations.list(viewerOf(caller), query, signal),
  }),
];

/** Management keys see their account, others themselves. */
export function viewerOf({ accountId, key }: Caller): LogViewer {
  return { accountId, keyHash: key.isManagement ? null : key.hash };
}
