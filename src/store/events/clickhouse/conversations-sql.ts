import {
  type ConversationSort,
  type ConversationsQuery,
  MAX_CONVERSATION_MODELS,
} from '../../../ports/events/events.ts';
import { DURATION } from '../columns.ts';
import type { ConversationFigures, ConversationKey, LastArrival, ModelUse } from '../conversation-parts.ts';
import { bigOf, requireColumns, wholeOf } from './driver/read-fields.ts';
import { literalOf, type TextRow } from './driver/tab-separated.ts';
import { conditionsOf, STATE } from './log-sql.ts';
import { EVENTS } from './schema.ts';

const END = `created_ms + coalesce(${DURATION}, 0)`;

/** Old servers compare no nullable columns in lists of pairs. */
const SESSION = 'assumeNotNull(session_id)';

/** What conversations are in order of. */
const SORT_VALUES: Readonly<Record<ConversationSort, string>> = {
  last: 'max(created_ms)',
  duration: `max(${END}) - min(created_ms)`,
  generations: 'countIf(isNull(refused_requests))',
  tokens: 'sum(prompt_tokens + completion_tokens)',
  cost: 'sum(credit_nanos)',
  failed: `countIf(${STATE} = 'failed')`,
};

type Kind = 'text' | 'number' | 'amount';

/** Columns of the figures of a conversation, by member, and how their texts are read. */
const FIGURES = {
  sessionId: [`${SESSION} AS session`, 'text'],
  workspaceId: ['workspace_id', 'text'],
  firstMs: ['min(created_ms)', 'number'],
  lastMs: ['max(created_ms)', 'number'],
  endMs: [`max(${END})`, 'number'],
  generations: [SORT_VALUES.generations, 'number'],
  failed: [SORT_VALUES.failed, 'number'],
  refused: ['countIf(isNotNull(refused_requests))', 'number'],
  promptTokens: ['sum(prompt_tokens)', 'number'],
  completionTokens: ['sum(completion_tokens)', 'number'],
  reasoningTokens: ['sum(reasoning_tokens)', 'number'],
  cachedTokens: ['sum(cached_tokens)', 'number'],
  creditNanos: ['sum(credit_nanos)', 'amount'],
  byokNanos: ['sum(byok_nanos)', 'amount'],
  // The last of those that are not null.
  keyHash: ['argMax(key_hash, created_ms)', 'text'],
  app: ['argMax(app, created_ms)', 'text'],
  externalUser: ['argMax(external_user, created_ms)', 'text'],
} as const satisfies Record<keyof ConversationFigures, readonly [sql: string, kind: Kind]>;

const MEMBERS = Object.entries(FIGURES);

/** Events of conversations that match. */
function matching(query: ConversationsQuery, prunedBeforeMs: number): string {
  const conditions = conditionsOf(query, prunedBeforeMs);
  conditions.push('isNotNull(session_id)');
  if (query.sessionSearch !== null) {
    conditions.push(`position(${SESSION}, ${literalOf(query.sessionSearch)}) > 0`);
  }
  return `${EVENTS} FINAL WHERE ${conditions.join(' AND ')}`;
}

/** The statement of `ConversationReader.page`. Columns: workspace, session, and what they are in order of. */
export function conversationKeysSql(
  query: ConversationsQuery,
  last: LastArrival | null,
  prunedBeforeMs: number,
): string {
  const direction = query.order === 'desc' ? 'DESC' : 'ASC';
  const events = (range: Partial<LastArrival>) => matching({ ...query, ...range }, prunedBeforeMs);
  // What has a generation after the part is a conversation of a later one.
  const later =
    last === null || last.toMs >= query.toMs
      ? ''
      : `AND (workspace_id, ${SESSION}) NOT IN (SELECT workspace_id, ${SESSION} FROM ${events({ fromMs: last.toMs })})`;
  return `SELECT workspace_id, ${SESSION} AS session, ${SORT_VALUES[query.sort]} AS value
    FROM ${events(last ?? {})} ${later} GROUP BY workspace_id, session ${behindSql(query)}
    ORDER BY value ${direction}, workspace_id ${direction}, session ${direction} LIMIT ${query.limit}`;
}

function behindSql({ after, order }: ConversationsQuery): string {
  if (after === null) return '';
  const sign = order === 'desc' ? '<' : '>';
  const [workspace, session] = [literalOf(after.workspaceId), literalOf(after.sessionId)];
  return `HAVING value ${sign} ${after.value} OR (value = ${after.value} AND (workspace_id ${sign} ${workspace}
    OR (workspace_id = ${workspace} AND session ${sign} ${session})))`;
}

/** Reads a row of `conversationKeysSql`. */
export function conversationKey(row: TextRow): ConversationKey {
  requireColumns(row, 3);
  const [workspaceId, sessionId] = row;
  return { workspaceId: workspaceId ?? '', sessionId: sessionId ?? '' };
}

/** The statement of `ConversationReader.figures`. Columns: those of `FIGURES`, in their order. */
export function conversationFiguresSql(
  query: ConversationsQuery,
  sessionIds: readonly string[],
  prunedBeforeMs: number,
): string {
  return `SELECT ${MEMBERS.map(([, [sql]]) => sql).join(', ')}
    FROM ${matching({ ...query, sessionIds }, prunedBeforeMs)} GROUP BY workspace_id, session`;
}

/** Reads a row of `conversationFiguresSql`. */
export function conversationFigures(row: TextRow): ConversationFigures {
  requireColumns(row, MEMBERS.length);
  const members = MEMBERS.map(([name, [, kind]], place) => [name, memberOf(kind, row[place] ?? null)]);
  return Object.fromEntries(members) as ConversationFigures;
}

function memberOf(kind: Kind, text: string | null): unknown {
  if (kind === 'text') return text;
  return kind === 'amount' ? bigOf(text) : wholeOf(text);
}

/** The statement of `ConversationReader.models`. Columns: workspace, session, model and its generations. */
export function conversationModelsSql(
  query: ConversationsQuery,
  sessionIds: readonly string[],
  prunedBeforeMs: number,
): string {
  return `SELECT workspace_id, ${SESSION} AS session, model_id, count() AS generations
    FROM ${matching({ ...query, sessionIds }, prunedBeforeMs)} AND isNull(refused_requests)
    GROUP BY workspace_id, session, model_id ORDER BY workspace_id, session, generations DESC, model_id
    LIMIT ${MAX_CONVERSATION_MODELS} BY workspace_id, session`;
}

/** Reads a row of `conversationModelsSql`. */
export function modelUse(row: TextRow): ModelUse {
  requireColumns(row, 4);
  const [workspaceId, sessionId, model, generations] = row;
  return {
    workspaceId: workspaceId ?? '',
    sessionId: sessionId ?? '',
    model: model ?? '',
    generations: wholeOf(generations),
  };
}
