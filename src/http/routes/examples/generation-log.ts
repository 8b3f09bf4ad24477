import type { Static } from 'typebox';
import type {
  generationCountsReplySchema,
  generationsReplySchema,
} from '../../../contract/generations/generation-log.ts';
import type { runningGenerationsReplySchema } from '../../../contract/generations/running-generation.ts';
import type { RouteExample } from '../../route.ts';
import { GENERATION_ID, KEY_HASH, TRACE_ID, WORKSPACE_ID } from './ids.ts';

/** The log of generations. */
export const GENERATION_LOG_EXAMPLES = {
  listGenerations: {
    query: { limit: '1' },
    answer: {
      data: [
        {
          id: GENERATION_ID,
          state: 'answered',
          created_at: '2026-11-17T05:17:04.666Z',
          model: 'simulator/standard',
          provider_name: 'Simulator',
          endpoint: 'simulator',
          workspace_id: WORKSPACE_ID,
          workspace_name: 'Default',
          key_hash: KEY_HASH,
          key_name: 'first key',
          app: null,
          request_format: 'responses',
          streamed: false,
          finish_reason: 'stop',
          error_status: null,
          error_type: null,
          tokens_prompt: 4,
          tokens_completion: 27,
          tokens_reasoning: 0,
          tokens_cached: 0,
          latency: 62,
          duration_ms: 99,
          cost: 0.000112,
          byok_cost: 0,
          is_byok: false,
          is_guarded: false,
          is_from_cache: false,
          attempts: 1,
          tool_calls: 0,
          session_id: null,
          request_id: null,
          external_user: null,
          trace_id: TRACE_ID,
        },
      ],
      next: null,
      previous: `1794892624666.${GENERATION_ID}`,
      searched_to: null,
    } satisfies Static<typeof generationsReplySchema>,
  },
  countGenerations: {
    query: { from: '2026-11-16T05:00:00Z', to: '2026-11-17T06:00:00Z', buckets: '25' },
    answer: {
      data: {
        total: 1,
        failed: 0,
        from: '2026-11-16T05:00:00.000Z',
        to: '2026-11-17T06:00:00.000Z',
        bucket_ms: 3_600_000,
        buckets: [{ start: '2026-11-17T05:00:00.000Z', count: 1, failed: 0 }],
        counted_from: null,
        missing_before: null,
      },
    } satisfies Static<typeof generationCountsReplySchema>,
  },
  listRunningGenerations: {
    query: { limit: '1' },
    answer: {
      data: [
        {
          id: GENERATION_ID,
          created_at: '2026-11-17T05:17:04.666Z',
          model: 'simulator/slow-stream',
          provider_name: 'Simulator',
          workspace_id: WORKSPACE_ID,
          workspace_name: 'Default',
          key_hash: KEY_HASH,
          key_name: 'first key',
          app: null,
          request_format: 'responses',
          streamed: true,
          tokens_prompt: 4,
          tokens_completion: 11,
          cost: 0.000048,
          reserved: 0.0081,
          tool_calls: 0,
          session_id: null,
          request_id: null,
          external_user: null,
          trace_id: TRACE_ID,
        },
      ],
      total_count: 1,
    } satisfies Static<typeof runningGenerationsReplySchema>,
  },
} as const satisfies Readonly<Record<string, RouteExample>>;
